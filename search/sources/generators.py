"""The names of the site generators whose output can be read."""

from search.sources.markdown.generators import GENERATORS

RENDERERS = ("redoc", "swagger-ui")  # show OpenAPI documents
NAMES = ("plain", *GENERATORS, "sphinx", "html", *RENDERERS)  # values of `SourceRequest.generator`


def validate(name: str) -> None:
    """Raise ValueError for an unknown generator. An empty name is fine."""
    if name and name not in NAMES:
        raise ValueError(f"{name[:40]} is no known generator: {', '.join(NAMES[:-1])} or {NAMES[-1]}")
