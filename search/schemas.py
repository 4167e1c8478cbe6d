"""Requests and responses of search over HTTP (specification 2.7, 2.8, 4.3)."""

from dataclasses import asdict
from typing import Annotated, Any

from ninja import Schema
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictStr, field_validator

from docsite.core.access.readers import MAX_GROUPS, normalize_groups
from docsite.core.http.schemas import NonBlank, Whole, configure_with_example, require_number
from search.hits import Filters, Hit


class FilterIn(BaseModel):
    """Narrows results. Each field is optional."""

    version: StrictStr | None = None
    language: StrictStr | None = None
    tag: StrictStr | None = None
    groups: list[StrictStr] | None = Field(
        None,
        max_length=MAX_GROUPS,
        description="Leaves out the pages of the reader's other groups. Public pages stay, and no group is added.",
    )

    @field_validator("groups")
    @classmethod
    def _normalize_groups(cls, groups: list[str] | None) -> list[str] | None:
        return None if groups is None else list(normalize_groups(groups))

    def to_filters(self) -> Filters:
        """The filter for the index. An empty value counts as missing."""
        return Filters(self.version or None, self.language or None, self.tag or None)


class SearchIn(BaseModel):
    """A search."""

    model_config = configure_with_example({"query": "install with pip", "pageSize": 5})

    query: StrictStr = Field(max_length=2000, description="Text to look for. Operators have no meaning.")
    pageSize: Whole = Field(10, ge=1, le=50, description="Number of results.")
    scoreThreshold: Annotated[float, Field(ge=0, le=1), BeforeValidator(require_number)] | None = Field(
        None, description="Only results with this score or a better one."
    )
    filter: FilterIn | None = None


class ClickIn(BaseModel):
    """A result that a reader opened."""

    model_config = configure_with_example({"query": "install with pip", "path": "/install", "position": 1})

    query: NonBlank = Field(max_length=2000, description="What was searched for.")
    path: StrictStr = Field(min_length=1, max_length=2000, description="Page of the result, as the search gave it.")
    position: Whole = Field(ge=1, le=50, description="Place of the result: the first one is 1.")


class PageIn(BaseModel):
    """A page to read."""

    model_config = configure_with_example({"path": "/install"})

    path: StrictStr = Field(min_length=1, max_length=2000, description="In any spelling: `/a`, `/a.md`, an address.")


class PageOut(Schema):
    """A page's Markdown, without its front matter."""

    path: str
    content: str


class SectionOut(Schema):
    """Another section of the page that matched."""

    section: str
    url: str
    score: float


class MetadataOut(Schema):
    """Further data of a result."""

    model_config = ConfigDict(extra="allow")
    title: str
    url: str
    section: str
    breadcrumb: list[str]
    score: float
    highlights: list[tuple[int, int]]
    sections: list[SectionOut] | None = None
    version: str | None = None
    language: str | None = None
    tags: list[str] | None = None


class SearchResult(Schema):
    """One page that answers the query, by its best section."""

    content: str
    path: str
    metadata: MetadataOut


def build_result(hit: Hit) -> dict[str, Any]:
    """A hit as a search result, without the facets that its page lacks."""
    metadata: dict[str, Any] = {
        "title": hit.title,
        "url": hit.url,
        "section": hit.section,
        "breadcrumb": list(hit.breadcrumb),
        "score": hit.score,
        "highlights": [list(span) for span in hit.highlights],
    }
    if hit.others:
        metadata["sections"] = [asdict(other) for other in hit.others]
    facets = {"version": hit.version, "language": hit.language, "tags": list(hit.tags)}
    metadata |= {name: value for name, value in facets.items() if value}
    return {"content": hit.excerpt, "path": hit.path, "metadata": metadata}
