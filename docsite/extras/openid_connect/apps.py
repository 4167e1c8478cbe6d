"""The configuration of the app."""

from django.apps import AppConfig
from django.http import HttpRequest, HttpResponseRedirect

from docsite.core import components
from docsite.core.sign_on import provider
from docsite.core.sign_on.provider import Claims, Provider
from docsite.extras.openid_connect import settings


class OpenIdConnectConfig(AppConfig):
    """Single sign-on by OpenID Connect."""

    name = "docsite.extras.openid_connect"
    label = "openid_connect"

    def ready(self) -> None:
        """Install the provider and its check. Whether there is one is asked at each use."""
        components.register("docsite.extras.openid_connect.components")
        provider.install(_find_provider)


def _find_provider() -> Provider | None:
    own = settings.read()
    return Provider(own.oidc_name, own.oidc_issuer.rstrip("/"), _redirect, _finish) if own.oidc_issuer else None


def _redirect(request: HttpRequest, back: str, max_age: int | None) -> HttpResponseRedirect:
    from docsite.extras.openid_connect import protocol  # its library takes a quarter of a second to import

    return protocol.redirect(request, back, max_age)


def _finish(request: HttpRequest) -> Claims:
    from docsite.extras.openid_connect import protocol

    return protocol.finish(request)
