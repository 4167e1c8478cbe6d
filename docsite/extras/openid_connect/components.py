"""What single sign-on tells `manage.py doctor`."""

from docsite.core.components import Component, Finding
from docsite.extras.openid_connect import settings


def check_provider() -> Finding | None:
    """Whether people can log in at the provider. None without one."""
    if not settings.read().oidc_issuer:
        return None
    from docsite.extras.openid_connect import doctor  # its library takes a quarter of a second to import

    return doctor.check_provider()


COMPONENTS = (Component(name="single sign-on", doctor=(check_provider,)),)
