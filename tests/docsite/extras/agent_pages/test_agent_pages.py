"""What agents get of a project: pages as Markdown, lists of them, all of them, and nothing that is not public."""

import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from asgiref.sync import async_to_sync
from django.test import RequestFactory

from docsite.core.http.errors import NotFound, TooMany
from docsite.extras.agent_pages import contents, endpoint, pages
from docsite.extras.agent_pages.models import AgentPagesSettings
from docsite.extras.agent_pages.pages import Place
from docsite.extras.dead_ends.models import MissingPage
from docsite.site.for_programs import agent_files
from search import missing_pages
from search.indexing.ingest import ingest
from search.models import Document
from search.sources.markdown.folder import read_folder
from tests.analytics.conftest import GPTBOT
from tests.conftest import assert_error
from tests.variants import first_of

EDGE = {"X-Docs-Edge": "1"}


def write(folder: Path, **pages: str) -> None:
    for name, text in pages.items():
        file = folder / f"{name.replace('__', '/')}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def read_front(text: str) -> tuple[dict[str, Any], str]:
    """The front matter of a page, and the text below it."""
    _, front, body = text.split("---\n", 2)
    return yaml.safe_load(front), body


def test_a_page_is_whole_and_says_where_it_comes_from(http, service, project):
    document = Document.objects.get(project=project.project, path="/configure")
    response = http.get(f"{service.url}/agents/{project.domain}/configure.md")
    assert response.headers["content-type"] == "text/markdown; charset=utf-8"
    front, body = read_front(response.text)
    assert front == {
        "title": "Configuring acme",
        "url": "https://docs.acme.example/configure",
        "version": "2.0",
        "last_modified": f"{document.ingested_at:%Y-%m-%d}",
        **({"language": document.language} if document.language else {}),
    }
    assert body.startswith(
        f"\n# Configuring acme\n\n> All pages: [llms.txt]({service.url}/agents/{project.domain}/llms.txt)\n\n"
    )
    assert "## Environment\n\nSet `ACME_HOME` to the folder" in body
    assert body.count("# Configuring acme") == 1
    install = http.get(f"{service.url}/agents/{project.domain}/install.md").text
    assert "How to install acme on any machine." in install
    assert "```sh\npip install acme\n```" in install


def test_links_are_relative_and_on_the_site_whole_addresses(http, service, make_project, tmp_path):
    tenant = make_project("https://acme.example/docs")
    write(
        tmp_path,
        index="# Acme\n\nSee [b](guide/b.md#part), [gone](gone.md), ![picture](p.png) and [web](https://example.org/x).\n",
        guide__a="# A\n\nSee [b](b.md), [home](../index.md) and `[code](b.md)`.\n",
        guide__b="# B\n\n## Part\n\nSee [a](/docs/guide/a).\n",
    )
    ingest(tenant.project, read_folder(tmp_path))
    at = f"{service.url}/agents/{tenant.domain}"
    home = http.get(f"{at}/index.md").text
    assert "See [b](guide/b.md#part), gone, picture and [web](https://example.org/x)." in home
    assert "See [b](b.md), [home](../index.md) and `[code](b.md)`." in http.get(f"{at}/guide/a.md").text
    behind = http.get(f"{at}/docs/guide/a.md", headers=EDGE)
    site = "https://acme.example/docs"
    assert f"See [b]({site}/guide/b.md), [home]({site}/index.md) and `[code](b.md)`." in behind.text
    assert f"[llms.txt]({site}/llms.txt)" in behind.text
    assert "X-Docs-Edge" in behind.headers["vary"]
    listed = http.get(f"{at}/docs/llms.txt", headers=EDGE).text
    assert re.findall(r"\]\((\S+\.md)\)", listed) == [f"{site}{path}.md" for path in ("/index", "/guide/a", "/guide/b")]


def test_an_address_without_an_ending_is_for_those_who_prefer_markdown(http, service, project):
    at = f"{service.url}/agents/{project.domain}"
    whole = http.get(f"{at}/guides/labels.md").text
    for address in ("guides/labels", "guides/labels/", "guides/labels.html", "guides/labels/index.md"):
        assert http.get(f"{at}/{address}", headers={"Accept": "text/markdown, text/html;q=0.9"}).text == whole
    assert http.get(f"{at}/", headers={"Accept": "text/markdown"}).text == http.get(f"{at}/index.md").text
    for accept in ("text/html", "*/*", "text/markdown;q=0.1, text/html"):
        assert_error(http.get(f"{at}/guides/labels", headers={"Accept": accept}), 404)
    assert_error(http.get(f"{at}/nosuch.md"), 404)
    assert_error(http.get(f"{service.url}/agents/nosuch/index.md"), 404)
    assert_error(http.post(f"{at}/index.md"), 405)


def test_what_is_known_is_not_sent_again(http, service, project):
    at = f"{service.url}/agents/{project.domain}"
    for name in ("llms.txt", "llms-full.txt", "install.md"):
        first = http.get(f"{at}/{name}")
        assert first.headers["cache-control"] == "public, max-age=300"
        assert (
            http.get(f"{at}/{name}", headers={"If-None-Match": first.headers["etag"]}).status_code,
            http.get(f"{at}/{name}", headers={"If-None-Match": '"other"'}).status_code,
            http.head(f"{at}/{name}").status_code,
        ) == (304, 200, 200)


def test_all_pages_are_in_one_file_and_in_the_list(http, service, project):
    at = f"{service.url}/agents/{project.domain}"
    listed = http.get(f"{at}/llms.txt").text
    assert listed.startswith(f"# {project.project.name}\n\n> ")
    addresses = re.findall(r"^- \[.+?\]\((\S+\.md)\)", listed, re.MULTILINE)
    pages = [http.get(address).text for address in addresses]
    assert len(pages) == Document.objects.filter(project=project.project).count()
    assert f"[Installing acme]({at}/install.md): How to install acme on any machine." in listed
    assert f"## Optional\n\n- [All pages in one file]({at}/llms-full.txt)" in listed
    whole = http.get(f"{at}/llms-full.txt").text
    assert all(page in whole for page in pages)
    assert http.get(f"{at}/guides/llms-full.txt").text == http.get(f"{at}/guides/labels.md").text


@pytest.mark.matrix
def test_a_download_of_all_pages_is_paid_for_and_breaks_off_where_it_ends_early(http, start, make_project):
    tenant = make_project()
    links = " ".join(f"[{number}](/{number:04})" for number in range(400))
    Document.objects.bulk_create(
        Document(project=tenant.project, path=f"/{number:04}", title=f"Page {number}", content=links)
        for number in range(400)
    )
    service = start.fresh(LIMIT_CPU_IP="1/d", TRUSTED_PROXIES="127.0.0.1")
    url = f"{service.url}/agents/{tenant.domain}/llms-full.txt"
    text: list[str] = []
    with http.stream("GET", url) as response, pytest.raises(httpx.TransportError):
        text.extend(response.iter_text())
    assert "# Page 1\n" in "".join(text)
    assert "# Page 399\n" not in "".join(text)
    assert_error(http.get(url), 429)
    other = {"X-Forwarded-For": "198.51.100.7"}
    assert http.get(url.replace("-full", ""), headers=other).status_code == 200


@pytest.mark.parametrize(
    ("limit", "headers"),
    [pytest.param("limit_collect_ip", {}, id="here"), pytest.param("limit_agents_edge", EDGE, id="site")],
)
def test_agents_of_a_site_have_a_limit_of_their_own(
    place: Place, settings: Any, limit: str, headers: dict[str, str]
) -> None:
    store(place, "/a")
    settings.ENV = settings.ENV.model_copy(update={limit: "1/7951s"})  # a window that no other test has

    def ask(address: str, sent: dict[str, str]) -> int:
        request = RequestFactory().get("/", REMOTE_ADDR=address, headers=sent)
        return async_to_sync(endpoint.page)(request, place.project.domain, "a.md").status_code

    assert ask("192.0.2.10", headers) == 200
    with pytest.raises(TooMany):
        ask("192.0.2.10", headers)
    assert ask("192.0.2.10", {} if headers else EDGE) == 200
    assert ask("192.0.2.11", headers) == 200


@pytest.mark.parametrize(
    ("headers", "address", "expected"),
    [
        pytest.param({**EDGE, "User-Agent": GPTBOT}, "docs/gone.md", [("/gone", 1)], id="an agent"),
        pytest.param(
            {**EDGE, "User-Agent": GPTBOT, "Accept": "text/markdown"}, "docs/gone", [("/gone", 1)], id="by Accept"
        ),
        pytest.param({**EDGE, "User-Agent": GPTBOT}, "docs/a.md", [], id="a page"),
        pytest.param(EDGE, "docs/gone.md", [], id="a server that names no agent"),
        pytest.param({"User-Agent": GPTBOT}, "docs/gone.md", [], id="not at the site"),
    ],
)
def test_what_agents_miss_on_a_site_is_a_dead_end(
    make_project: Any, headers: dict[str, str], address: str, expected: list[tuple[str, int]]
) -> None:
    project = make_project("https://acme.example/docs").project
    Document.objects.create(project=project, path="/a", title="A", content="Text.")
    request = RequestFactory().get("/", headers=headers)
    with suppress(NotFound):
        async_to_sync(endpoint.page)(request, project.domain, address)
    missing_pages.flush()
    assert list(MissingPage.objects.filter(project=project).values_list("path", "agents")) == expected


def test_an_address_downloads_all_pages_twice_at_once(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    store(place, "/a", "/b")
    monkeypatch.setattr(pages, "BATCH", 1)
    request = RequestFactory().get("/", REMOTE_ADDR="192.0.2.1")
    elsewhere = RequestFactory().get("/", REMOTE_ADDR="192.0.2.2")

    async def download() -> None:
        begun = [await endpoint.all_pages(request, place.project.domain) for _ in range(2)]
        running = [aiter(response) for response in begun]
        for process in running:
            assert b"# Page /a" in await anext(process)
        with pytest.raises(TooMany):
            await endpoint.all_pages(request, place.project.domain)
        assert (await endpoint.all_pages(elsewhere, place.project.domain)).status_code == 200
        assert b"# Page /b" in await anext(running[0])
        await running[1].aclose()
        assert [piece async for piece in running[0]] == []
        assert (await endpoint.all_pages(request, place.project.domain)).status_code == 200

    async_to_sync(download)()


def test_a_download_renders_no_page_twice(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    store(place, *(f"/{number}" for number in range(pages.BATCH + 2)))
    first = [pages.load_batch(place, "/", after) for after in ("", "/4")]
    assert pages.find_page(place, "/6.md")
    monkeypatch.setattr(pages, "write_page", None)
    assert [pages.load_batch(place, "/", after) for after in ("", "/4")] == first


def test_names_of_strangers_take_no_memory(place: Place) -> None:
    store(place, "/a")
    before = len(contents._lists._values), contents._lists.nbytes
    assert not any(contents.write_contents(place, f"/{number}") for number in range(10))
    assert (len(contents._lists._values), contents._lists.nbytes) == before
    text = contents.write_contents(place, "/")
    assert text
    assert contents._lists.nbytes - before[1] > 2 * (len(text) + len(place.url))


def test_protected_pages_and_links_to_them_are_left_out(http, service, make_project, tmp_path):
    tenant = make_project()
    write(
        tmp_path,
        index="# Acme\n\nSee [the vault](vault/quokka.md).\n",
        vault__quokka="---\ngroups: [staff]\n---\n# Zebra\n\nNine requests.\n",
        vault__other="---\ngroups: [staff]\n---\n# Other\n\nText.\n",
    )
    ingest(tenant.project, read_folder(tmp_path))
    at = f"{service.url}/agents/{tenant.domain}"
    texts = [http.get(f"{at}/{name}") for name in ("index.md", "llms.txt", "llms-full.txt")]
    assert [text.status_code for text in texts] == [200, 200, 200]
    assert "See the vault." in texts[0].text
    assert not any("quokka" in text.text or "Zebra" in text.text for text in texts)
    for name in ("vault/quokka.md", "vault/llms.txt", "vault/llms-full.txt"):
        assert_error(http.get(f"{at}/{name}"), 404)


def test_an_owner_turns_it_off(http, service, project):
    AgentPagesSettings.objects.create(project=project.project, agent_pages=False)
    for name in ("index.md", "llms.txt", "llms-full.txt", "edge/nginx.conf"):
        assert_error(http.get(f"{service.url}/agents/{project.domain}/{name}"), 404)


@pytest.fixture
def place(make_project: Any) -> Place:
    """A project without pages yet."""
    return Place(make_project().project, "https://service.example/agents/acme", is_site=False)


def store(place: Place, *paths: str, description: str = "") -> None:
    Document.objects.bulk_create(
        Document(project=place.project, path=path, title=f"Page {path}", description=description, content="Text.")
        for path in paths
    )


def read_list(place: Place, address: str) -> str:
    """The list at an address of the project."""
    folder, _, name = address.removeprefix(place.url).rpartition("/")
    part = int(number[1]) if (number := re.fullmatch(r"llms-(\d+)\.txt", name)) else 0
    text = contents.write_contents(place, folder or "/", part)
    assert text is not None, address
    assert len(text) < contents.MAX_CHARACTERS, address
    return text


def walk(place: Place, address: str) -> list[str]:
    """The pages in a list and in all lists to which it leads."""
    found = []
    for link in re.findall(r"\]\((\S+)\)", read_list(place, address)):
        if link.endswith(".md"):
            found.append(link)
        elif not link.endswith("llms-full.txt"):
            found += walk(place, link)
    return found


@pytest.mark.parametrize(
    "paths",
    first_of(
        [
            pytest.param(["/a", "/a/b", "/a/b/c", "/ab", "/A/b"], id="small"),
            pytest.param([f"/{folder}/{page}" for folder in "abc" for page in range(300)], id="folders"),
            pytest.param(["/", *(f"/v1/api/{folder}/{page}" for folder in range(5) for page in range(200))], id="deep"),
            pytest.param([f"/{page:04}" for page in range(2000)], id="flat"),
            pytest.param([f"/{folder}/{page}" for folder in range(900) for page in "ab"], id="many folders"),
        ],
        2,
    ),
)
def test_a_list_of_any_site_is_short_and_leads_to_every_page_once(place: Place, paths: list[str]) -> None:
    store(place, *paths, description="What the page is about, in some words. " * 2)
    expected = sorted(place.url + ("/index.md" if path == "/" else f"{path}.md") for path in paths)
    assert sorted(walk(place, f"{place.url}/llms.txt")) == expected


def test_all_pages_of_a_folder_are_those_in_it(place: Place) -> None:
    store(place, "/a/1", *(f"/a-{number}" for number in range(2 * pages.BATCH)), "/A/2", "/ab", "/a_")
    assert pages.load_batch(place, "/a", "")[1] == "/a/1"
    assert pages.load_batch(place, "/a", "/a/1") == ("", "")
    assert pages.load_batch(place, "/a-1", "")[1] == "/a-1"


def test_a_list_has_a_section_for_each_folder(place: Place) -> None:
    store(place, "/", "/guide", "/guide/a", "/guide/b", "/api-reference/x", "/api-reference/y", "/lone/page")
    Document.objects.filter(project=place.project, path="/guide").update(title="The [guide]")
    text = read_list(place, f"{place.url}/llms.txt")
    assert re.findall(r"^## (.+)", text, re.MULTILINE) == ["Pages", "Api reference", "The [guide]", "Optional"]
    assert r"- [The \[guide\]]" in text
    assert contents.write_contents(place, "/nosuch") is None
    assert contents.write_contents(place, "/", 1) is None


def test_our_own_site_writes_its_list_with_the_same_function() -> None:
    text = agent_files.write_list("T", "S", ["N"], [("A", ["- [x](y)"]), ("B", [])])
    assert text == "# T\n\n> S\n\nN\n\n## A\n\n- [x](y)\n\n## B\n\n"
