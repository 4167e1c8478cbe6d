"""All checks, in the order in which an operator should mend things: those of the machine and its stores come first."""

from collections.abc import Iterator

from docsite.core import components
from docsite.core.components.findings import Finding
from docsite.server.doctor.proxy import check_proxy


def examine(url: str = "") -> Iterator[Finding]:
    """Run the checks that apply to this set-up, one after the other; with a URL of this service also its proxy's."""
    for component in components.load():
        for check in component.doctor:
            if finding := check():
                yield finding
    if url:
        yield check_proxy(url)
