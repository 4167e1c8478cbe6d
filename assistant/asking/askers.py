"""Who asks, resumes or stops an answer."""

from collections.abc import Collection

from assistant.answering.question import Asker
from docsite.core.access.authentication import Caller
from docsite.core.access.readers import narrow, read_as
from docsite.core.http.client_address import network_of


def identify_asker(
    caller: Caller, fp: str, origin: str, chat_id: str = "", groups: Collection[str] | None = None
) -> Asker:
    """The asker behind a caller. `groups`: those of the reader's groups whose pages are wanted; None: all of them."""
    project = caller.project
    with read_as(caller.groups):
        readable = sorted(narrow(groups) or ())
    return Asker(project.pk, project.organization_id, fp, network_of(caller.address), origin, chat_id, readable)
