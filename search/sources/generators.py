"""The names of the site generators that we know."""

from search.sources.markdown.generators import GENERATORS

RENDERERS = ("redoc", "swagger-ui")  # of OpenAPI documents
NAMES = ("plain", *GENERATORS, "sphinx", "html", *RENDERERS)  # what `SourceRequest.generator` may be


def check(name: str) -> None:
    """Raise ValueError for an unknown generator. An empty name is fine."""
    if name and name not in NAMES:
        raise ValueError(f"{name[:40]} is no known generator: {', '.join(NAMES[:-1])} or {NAMES[-1]}")
