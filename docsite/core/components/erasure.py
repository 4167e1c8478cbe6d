"""Whose data the components erase."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from docsite.core.http.client_address import Address, parse_address

if TYPE_CHECKING:
    from docsite.core.tenants.models import Project

READER, CONVERSATION, WRITER, VISITOR, EVERYTHING = "reader", "conversation", "writer", "visitor", "everything"
SHARED_FP = "anonymous"

_MISSING = {
    READER: "Give the fp of the reader.",
    CONVERSATION: "Give the id of the conversation.",
    WRITER: "Give the e-mail address of the writer.",
    VISITOR: "Give the IP address and the user agent of the visitor.",
}


class NotErasable(Exception):
    """The data cannot be erased. The message is a sentence."""


@dataclass(frozen=True)
class Subject:
    """Whose data: a reader's, a conversation's, a visitor's, a writer's of support requests, or a whole project's.

    `whose` is one of the names above. The identifier is an `fp`, the id of a thread, an e-mail address or a network
    address; a visitor has a user agent, too. Raises `NotErasable` if these are missing, and for an fp that many
    readers share. Of a reader who was named by a conversation, components get the `fp`, and the id as `last_thread`.
    """

    project: "Project"
    whose: str
    identifier: str = ""
    user_agent: str = ""
    reader_id: str = ""  # the first-party id of a visitor, if the project uses them
    last_thread: str = ""  # the conversation to erase last, so that an interrupted erasure can be started again by it

    def __post_init__(self) -> None:
        if not self.identifier and self.whose != EVERYTHING:
            raise NotErasable(_MISSING[self.whose])
        if self.whose == READER and self.identifier == SHARED_FP:
            raise NotErasable(f"Many readers share the fp {SHARED_FP}. Erase their conversations one by one.")
        if self.whose == VISITOR and not (self.address and self.user_agent):
            raise NotErasable("A visitor is named by an IP address and a user agent.")

    @property
    def address(self) -> Address | None:
        """The network address of a visitor; None for others."""
        return parse_address(self.identifier) if self.whose == VISITOR else None
