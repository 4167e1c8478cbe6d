"""The OpenID Connect provider of the service. The operator names it (`OIDC_ISSUER`); nobody else can."""

from dataclasses import dataclass

from django.conf import settings


class ProviderError(Exception):
    """The provider did not vouch for anybody. The message is a sentence, `status` that of the response."""

    def __init__(self, sentence: str, status: int) -> None:
        super().__init__(sentence)
        self.status = status


@dataclass(frozen=True)
class Claims:
    """What the provider says of a person. `name` is for display only.

    `groups` is None where the person has groups that the provider does not list: an "overage". Then `overage` is the
    claim that says so. `authenticated_at` is the Unix time at which the person logged in at the provider; 0 if unknown.
    """

    issuer: str
    subject: str
    name: str
    groups: list[str] | None
    overage: str = ""
    authenticated_at: float = 0


def is_configured() -> bool:
    """Whether the operator has named a provider."""
    return bool(settings.ENV.oidc_issuer)


def get_name() -> str:
    """What people call the provider."""
    return str(settings.ENV.oidc_name)
