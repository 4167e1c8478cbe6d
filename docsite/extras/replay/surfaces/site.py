"""What the site itself serves: the HTML of a page, its Markdown, and llms.txt. Read by the rules of the crawler."""

import html
import re
from collections.abc import Iterator, Sequence

from django.conf import settings
from selectolax.lexbor import LexborHTMLParser

from docsite.core.tenants.models import Project
from docsite.core.unicode.addresses import urlsplit
from docsite.extras.replay.surfaces.finding import Fact, Finding, State, choose_best, place
from search.models import Document
from search.sources.html import read_html
from search.sources.request import SourceRequest
from search.sources.web import robots
from search.sources.web.addresses import make_absolute
from search.sources.web.fetch import Fetcher, FetchError, Response
from search.sources.web.markdown_page import get_page_address
from search.sources.web.visits import HTML, MARKDOWN
from search.text.markdown.links import links

MAX_SECONDS = 20.0  # for all pages of a run: somebody waits for it
PAGE, PAGE_MARKDOWN, LIST = "page", "Markdown", "llms.txt"

_TAG = re.compile(r"<[^<>]*>")
_INLINE_TAG = re.compile(
    r"</?(?:a|abbr|b|cite|code|del|em|i|ins|kbd|mark|q|s|samp|small|span|strong|sub|sup|u|var)\b[^<>]*>"
)


class Site:
    """The site of a project. Each address is fetched once. `problem` says why nothing can be fetched; mostly empty."""

    def __init__(self, project: Project) -> None:
        self._project = project
        request = SourceRequest(project.docs_url, project.docs_url, private_hosts=settings.ENV.crawl_private_hosts)
        self._fetcher = Fetcher(request, max_seconds=MAX_SECONDS)
        self._responses: dict[str, Response | FetchError] = {}
        self.problem = ""
        try:
            self._robots = robots.fetch(self._fetcher, project.docs_url)
        except ValueError as unreachable:
            self.problem = unreachable.reason if isinstance(unreachable, FetchError) else str(unreachable)

    def close(self) -> None:
        """Close the connections."""
        self._fetcher.__exit__()

    def find(self, fact: str, paths: Sequence[str]) -> list[Finding]:
        """What the surfaces of the site have of a fact, which one of the pages should tell."""
        if self.problem or not paths:
            detail = self.problem or "no page is named"
            return [Finding(surface, State.UNKNOWN, detail) for surface in (PAGE, PAGE_MARKDOWN, LIST)]
        stored = Document.indexed.filter(project=self._project, path__in=paths).values_list("path", "address")
        own = dict(stored)
        addresses = [self._project.url_of(path, address=own.get(path, "")) for path in paths]
        best = [
            choose_best(find(address, Fact(fact)) for address in addresses)
            for find in (self._find_in_html, self._find_in_markdown)
        ]
        return [*filter(None, best), self._find_in_list(paths)]

    def _find_in_html(self, address: str, fact: Fact) -> Finding:
        response = self._fetch(address)
        if isinstance(response, FetchError):
            return _describe_failure(PAGE, response)
        if response.content_type not in HTML:
            return Finding(PAGE, State.LOST, f"is {response.content_type or 'of no type'}")
        try:
            content = read_html(response.body, response.url, response.charset).markdown
        except ValueError as wrong:
            return Finding(PAGE, State.LOST, str(wrong))
        return place(PAGE, fact.find_end(_read_all_text(response)), read_end=fact.find_end(content))

    def _find_in_markdown(self, address: str, fact: Fact) -> Finding:
        found = Finding(PAGE_MARKDOWN, State.LOST, "is not served")
        for candidate in _list_markdown_addresses(address):
            response = self._fetch(candidate)
            if isinstance(response, Response) and response.content_type in MARKDOWN:
                return place(PAGE_MARKDOWN, fact.find_end(response.body.decode("utf-8", "replace")))
            if isinstance(response, FetchError) and not response.status:
                found = _describe_failure(PAGE_MARKDOWN, response)
        return found

    def _find_in_list(self, paths: Sequence[str]) -> Finding:
        """Whether llms.txt lists one of the pages."""
        base = f"{self._project.docs_url.rstrip('/')}/"
        for address in dict.fromkeys((f"{base}llms.txt", make_absolute("/llms.txt", base))):
            response = self._fetch(address)
            if isinstance(response, FetchError):
                if not response.status:
                    return _describe_failure(LIST, response)
            elif response.content_type not in HTML:  # some sites send a page for every unknown address
                text = response.body.decode("utf-8-sig", "replace")
                ends = [
                    link.end
                    for link in links(text)
                    if self._project.path_of(get_page_address(make_absolute(link.target, response.url))) in paths
                ]
                found = place(LIST, min(ends, default=-1))
                return found if ends else Finding(LIST, State.LOST, "does not list the page")
        return Finding(LIST, State.LOST, "is not served")

    def _fetch(self, address: str) -> Response | FetchError:
        if address not in self._responses:
            try:
                if not self._robots.allows(address):
                    raise FetchError(address, "is forbidden by robots.txt")
                self._responses[address] = self._fetcher.get(address)
            except FetchError as error:
                self._responses[address] = error
        return self._responses[address]


def _describe_failure(surface: str, error: FetchError) -> Finding:
    """Without a status nobody has seen the page. So it is not known whether it tells the fact."""
    return Finding(surface, State.LOST if error.status else State.UNKNOWN, error.reason)


def _list_markdown_addresses(address: str) -> Iterator[str]:
    """Where sites serve the Markdown of a page (llmstxt.org), the likeliest first."""
    plain = address.rstrip("/")
    if urlsplit(address).path.endswith((".html", ".htm")):
        yield f"{plain.rpartition('.')[0]}.md"
        yield f"{plain}.md"
        return
    if urlsplit(plain).path:
        yield f"{plain}.md"
    yield f"{plain}/index.md"
    yield f"{plain}/index.html.md"


def _read_all_text(response: Response) -> str:
    """The text of a page with its navigation, as an agent gets it that looks for no main content."""
    tree = LexborHTMLParser(response.body)
    for node in tree.css("script, style, template, noscript"):
        node.decompose()
    source = tree.body.html if tree.body else ""
    return html.unescape(_TAG.sub(" ", _INLINE_TAG.sub("", source or "")))
