"""`read_page`: the Markdown of a page. Reading a page resource is the same."""

from django.utils import timezone
from pydantic import BaseModel, Field, StrictStr

from docsite.core.db import in_db
from docsite.core.http.client_address import network_of
from docsite.core.http.errors import NotFound
from docsite.extras.mcp import agents
from docsite.extras.mcp.tools.tool import Output, Tool, ToolContext
from search import missing_pages
from search.hits import Hit, PageText
from search.limits import search_charges
from search.missing_pages import MissingRequest
from search.retrieval import page_reading

MAX_LEVEL = 6  # of a Markdown heading


class Arguments(BaseModel):
    """Which page."""

    path: StrictStr = Field(
        min_length=1, max_length=2000, description="Path or public address of the page, as search_docs returns them."
    )


class Page(BaseModel):
    """A page."""

    path: str
    title: str
    url: str = Field(description="Public address of the page, to link to.")
    content: str = Field(description="The page as Markdown, with absolute links.")
    isComplete: bool = Field(description="Whether that is all. Of a very long page, only the beginning is returned.")


async def read(context: ToolContext, path: str) -> Page:
    """The page at a path or an address; the reading is recorded. Raises `NotFound`, or `TooMany` at a limit."""
    await context.spend(search_charges(context.caller))
    return await in_db(_load)(context, path)


async def _call(context: ToolContext, arguments: Arguments) -> Output:
    page = await read(context, arguments.path)
    return Output(f"URL: {page.url}\n\n{page.content}", page)


def _load(context: ToolContext, path: str) -> Page:
    found = page_reading.read_page(context.caller.project, path)
    if found is None or not found.sections:
        raise NotFound(_explain_missing(context, path))
    if context.reader:
        agents.record_read(context.caller.project, context.reader, context.user_agent, found.path)
    first = found.sections[0]
    return Page(
        path=found.path,
        title=first.title,
        url=context.caller.project.url_of(found.path, address=first.address),
        content=_format(found),
        isComplete=not found.further_headings,
    )


def _explain_missing(context: ToolContext, path: str) -> str:
    """Where the page is now, if that is known. The request is recorded."""
    project = context.caller.project
    missing = project.path_of(path[: page_reading.MAX_ADDRESS])
    asked = MissingRequest(missing, timezone.now(), context.user_agent, network=network_of(context.caller.address))
    missing_pages.record(project, [asked])
    moved = missing_pages.find_replacement(project, missing)
    advice = f"It is probably at {moved} now: read that page." if moved else "Use a path that search_docs returns."
    return f"There is no page at {path[:100]}. {advice}"


def _format(page: PageText) -> str:
    blocks = [f"# {page.sections[0].title}"]
    above: Hit | None = None
    for section in page.sections:
        trail = section.breadcrumb[1:]
        if trail and not (above and (above.anchor, above.breadcrumb) == (section.anchor, section.breadcrumb)):
            blocks.append(f"{'#' * min(MAX_LEVEL, len(trail) + 1)} {section.section}")
        blocks.append(section.body)
        above = section
    if page.further_headings:
        blocks.append(f"The page goes on: {'; '.join(page.further_headings)}. Search for these headings to read more.")
    return "\n\n".join(block for block in blocks if block.strip())


TOOL = Tool(
    "read_page",
    "Read a page",
    "Read a whole page of this documentation as Markdown. Use it when a section that search_docs returned is not "
    "enough, for example to follow all steps of a guide.",
    Arguments,
    Page,
    _call,
)
