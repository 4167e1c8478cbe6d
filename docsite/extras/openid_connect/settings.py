"""The settings of single sign-on by OpenID Connect."""

from urllib.parse import urlsplit

from django.conf import settings
from pydantic import Field, ValidationInfo, field_validator

from docsite.setting_types import Settings, check_port


class OpenIdSettings(Settings):
    """The provider, and this service at the provider."""

    oidc_issuer: str = ""
    oidc_client_id: str = ""
    oidc_client_secret: str = Field(default="", repr=False)
    oidc_name: str = Field(default="single sign-on", max_length=60)
    oidc_scopes: str = "openid profile email"
    oidc_group_claim: str = "groups"

    @field_validator("oidc_issuer")
    @classmethod
    def _check_issuer(cls, value: str) -> str:
        if not value:
            return value
        check_port(value)
        parts = urlsplit(value)
        if not parts.hostname or parts.query or parts.fragment or parts.username is not None:
            raise ValueError("write the address of the provider, such as https://login.example.com")
        if parts.scheme != "https" and (parts.scheme != "http" or parts.hostname not in ("127.0.0.1", "::1")):
            raise ValueError("must begin with https:// (http:// only at 127.0.0.1)")
        return value

    @field_validator("oidc_client_id", "oidc_client_secret", "oidc_name", "oidc_group_claim")
    @classmethod
    def _check_provider(cls, value: str, info: ValidationInfo) -> str:
        if info.data.get("oidc_issuer") and not value.strip():
            raise ValueError("is needed with OIDC_ISSUER: your provider shows it where you registered this service")
        return value.strip()

    @field_validator("oidc_scopes")
    @classmethod
    def _check_scopes(cls, value: str) -> str:
        if "openid" not in value.split():
            raise ValueError("must have the scope openid")
        return value


def read() -> OpenIdSettings:
    """The settings of this process."""
    own: OpenIdSettings = settings.EXTRAS[OpenIdSettings]
    return own
