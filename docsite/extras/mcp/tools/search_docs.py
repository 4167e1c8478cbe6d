"""`search_docs`: sections that match a query."""

from pydantic import BaseModel, Field, StrictStr

from docsite.core.db import SEARCHES, in_db
from docsite.core.http.schemas import NonBlank, Whole
from docsite.core.tenants.models import Project
from docsite.extras.mcp.tools.tool import Output, Tool, ToolContext
from search.hits import Filters, Hit
from search.limits import search_charges
from search.models import SearchQuery
from search.query_log import recording
from search.retrieval import links, page_search

MAX_SECTION = 2_000  # characters of a section that are shown


class Arguments(BaseModel):
    """What to search for."""

    query: NonBlank = Field(
        max_length=2000, description="Words, an error message, the name of a setting, or a short question."
    )
    version: StrictStr = Field(
        "", max_length=100, description="Only pages of this version of the product; latest is the newest one."
    )
    language: StrictStr = Field("", max_length=35, description="Only pages in this language, such as en or pt-BR.")
    limit: Whole = Field(5, ge=1, le=20, description="Number of results.")


class Result(BaseModel):
    """A page, by the section that matches best."""

    path: str = Field(description="Path of the page, for read_page.")
    title: str = Field(description="The page and the headings above the section.")
    url: str = Field(description="Public address of the section, to link to.")
    score: float = Field(description="Probability that the section answers the query, 0 to 1.")
    content: str = Field(description="The section as Markdown; a long one is cut.")


class Results(BaseModel):
    """The results, best first."""

    results: list[Result]


async def _call(context: ToolContext, arguments: Arguments) -> Output:
    await context.spend(search_charges(context.caller))
    hits = await in_db(_find, SEARCHES)(context, arguments)
    results = [_describe(hit) for hit in hits]
    return Output(_format(arguments.query, results), Results(results=results))


def _find(context: ToolContext, arguments: Arguments) -> list[Hit]:
    project: Project = context.caller.project
    filters = Filters(arguments.version or None, arguments.language or None)
    hits = page_search.find(project, arguments.query, filters=filters, limit=arguments.limit)
    reader = recording.hash_caller(project, context.caller.address, context.user_agent)
    first_score = hits[0].score if hits else None
    kind = SearchQuery.CallerKind.MCP
    recording.record(project, reader, arguments.query, len(hits), kind, filters, first_score)
    return links.make_absolute(project, hits)


def _describe(hit: Hit) -> Result:
    content = hit.body if len(hit.body) <= MAX_SECTION else f"{hit.body[:MAX_SECTION].rstrip()} …"
    return Result(
        path=hit.path, title=" › ".join(hit.breadcrumb), url=hit.url, score=round(hit.score, 3), content=content
    )


def _format(query: str, results: list[Result]) -> str:
    if not results:
        return f"Nothing found for “{query[:200]}”. Try fewer words, or the exact name of a setting or an error."
    return "\n\n---\n\n".join(
        f"# {number}. {result.title}\n\nPath: {result.path}\nURL: {result.url}\n\n{result.content}"
        for number, result in enumerate(results, 1)
    )


TOOL = Tool(
    "search_docs",
    "Search the documentation",
    "Search this documentation. Returns the sections that match best, each with the Markdown of the section, the path "
    "of its page (for read_page) and a public URL to link to. Use it first for names of settings, commands, endpoints "
    "and error messages. Operators have no meaning in the query.",
    Arguments,
    Results,
    _call,
)
