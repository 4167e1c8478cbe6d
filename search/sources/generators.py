"""The generators of documentation that are known by name."""

from search.sources.markdown.generators import GENERATORS

RENDERERS = ("redoc", "swagger-ui")  # of OpenAPI documents
NAMES = ("plain", *GENERATORS, "sphinx", "html", *RENDERERS)  # what `Reading.generator` may be


def check(name: str) -> None:
    """Raise ValueError for the name of a generator that is not known; no name is fine."""
    if name and name not in NAMES:
        raise ValueError(f"{name[:40]} is no known generator: {', '.join(NAMES[:-1])} or {NAMES[-1]}")
