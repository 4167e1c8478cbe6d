"""The provider of single sign-on, where one is installed. The operator names it; nobody else can."""

from collections.abc import Callable
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponseRedirect


class ProviderError(Exception):
    """The provider did not vouch for anybody. The message is a sentence, `status` that of the response.

    `cause` is what the operator has to know: a line for the log, without secrets.
    """

    def __init__(self, sentence: str, status: int, cause: str = "") -> None:
        super().__init__(sentence)
        self.status = status
        self.cause = cause or sentence


@dataclass(frozen=True)
class Claims:
    """What the provider says of a person. `name` is for display only.

    `groups` is None where the person has groups that the provider does not list: an "overage". Then `overage` is the
    claim that says so. `authenticated_at` is the Unix time at which the person logged in at the provider; 0 if unknown.
    `missing` says which claim the provider should have sent; empty if it has.
    """

    issuer: str
    subject: str
    name: str
    groups: list[str] | None
    overage: str = ""
    authenticated_at: float = 0
    missing: str = ""


@dataclass(frozen=True)
class Provider:
    """A provider: its name for people, its address, and the way there and back. Both ways raise ProviderError."""

    name: str
    issuer: str
    # Send the browser there, and then to an address. A log-in there that is older than so many seconds does not count.
    redirect: Callable[[HttpRequest, str, int | None], HttpResponseRedirect]
    finish: Callable[[HttpRequest], Claims]  # take the browser back


_find: Callable[[], Provider | None] | None = None


def install(find: Callable[[], Provider | None]) -> None:
    """Let people log in at a provider from now on, whenever `find` returns one. Call it in `AppConfig.ready`."""
    global _find
    _find = find


def find() -> Provider | None:
    """The provider of this deployment, if the operator has named one."""
    return _find() if _find else None


def is_configured() -> bool:
    """Whether the operator has named a provider."""
    return find() is not None


def get_name() -> str:
    """What people call the provider. Empty without one."""
    return own.name if (own := find()) else ""
