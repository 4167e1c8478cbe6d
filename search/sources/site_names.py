"""The name and the address of a site, as its configuration or its pages say. A page's title is no name of a site."""

import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from search.sources.html import read_html
from search.sources.markdown import configuration, javascript

MAX_NAME = 200  # characters
_TEXT = r"""(?:"([^"\n]{1,200})"|'([^'\n]{1,200})')"""
_YAML = r"""[ \t]*(?:"([^"\n]{1,200})"|'([^'\n]{1,200})'|([^\s"'#{\[|>&*!][^\n#]{0,199}))"""
_IN_YAML = re.compile(rf"^(?:site_name|title):{_YAML}", re.MULTILINE)
_IN_TOML = re.compile(rf"^[ \t]*(?:title|site_name)[ \t]*=[ \t]*{_TEXT}", re.MULTILINE)
_IN_PYTHON = re.compile(rf"^project[ \t]*=[ \t]*{_TEXT}", re.MULTILINE)
_IN_SCRIPT = re.compile(rf"\btitle:\s{{0,20}}{_TEXT}")
_IN_JSON = re.compile(rf'"name"[ \t]*:[ \t]*{_TEXT}')
_CONFIGURATIONS = (
    (("mkdocs.yml", "mkdocs.yaml", "hugo.yaml", "_config.yml", "config.yaml"), _IN_YAML),
    (("hugo.toml", "config.toml", "config/_default/hugo.toml", "book.toml", "zensical.toml"), _IN_TOML),
    (("conf.py", "source/conf.py"), _IN_PYTHON),
    *((javascript.list_names(name), _IN_SCRIPT) for name in ("docusaurus.config", ".vitepress/config", "astro.config")),
    (("docs.json", "mint.json"), _IN_JSON),
)
_ADDRESSES = (
    (("mkdocs.yml",), re.compile(r"^site_url:[ \t]*[\"']?(https?://[^\s\"'#?]+)", re.MULTILINE)),
    (("conf.py", "docs/conf.py"), re.compile(r"^html_baseurl[ \t]*=[ \t]*[\"'](https?://[^\s\"'#?]+)", re.MULTILINE)),
)
_FOLDERS = ("", "docs", "website", "doc")


def agree(names: Sequence[str]) -> str:
    """The name that most pages of a site give. A name that only one of several pages gives is part of its title."""
    counts = Counter(name for name in names if name)
    name, count = counts.most_common(1)[0] if counts else ("", 0)
    return name[:MAX_NAME] if count > 1 or len(names) == 1 else ""


def find_in_folder(root: Path) -> str:
    """The name in the configuration of a site generator, or in a folder of HTML that of its first page."""
    folders = [root / name for name in _FOLDERS]
    if root.name in _FOLDERS:
        folders.append(root.parent)  # the configuration is often beside the folder of the pages
    for folder in folders:
        if found := _find_setting(folder, _CONFIGURATIONS):
            return found
    with suppress(ValueError):
        return read_html(configuration.read_text(root, root / "index.html"), "http://localhost/").site_name[:MAX_NAME]
    return ""


def find_address(root: Path) -> str:
    """The address in the configuration of MkDocs or Sphinx; empty for none."""
    return _find_setting(root, _ADDRESSES).rstrip("/")


def _find_setting(folder: Path, places: Sequence[tuple[Sequence[str], re.Pattern[str]]]) -> str:
    """The text of the first setting that a file has; empty for none."""
    for names, setting in places:
        for name in names:
            with suppress(ValueError):
                text = configuration.read_text(folder, folder / name) if (folder / name).is_file() else ""
                if found := setting.search(text):
                    return next(text for text in found.groups() if text is not None).strip()
    return ""
