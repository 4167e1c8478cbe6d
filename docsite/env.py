"""The environment variables of the service, with their types and defaults. Each app and extra declares its own.

What they mean stands on the page Configuration of the documentation (`docsite/site/content/configuration.md`), which a
test compares with the classes. An invalid value stops the start-up with a sentence that names the variable.
"""

import ipaddress
import re
from email.utils import parseaddr
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from django.utils.module_loading import import_string
from pydantic import Field, ValidationError, ValidationInfo, field_validator
from pydantic_settings import BaseSettings

from analytics.env import AnalyticsEnv
from assistant.env import AssistantEnv
from docsite import database_settings
from docsite.core.redis_servers.address import parse as parse_redis_address
from docsite.setting_types import List, PrivateHosts, Rate, Seconds, check_port, describe_setting

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

# Named, not imported: like the apps of `settings.py`, extras know the service, and it does not know them.
EXTRAS = (
    "docsite.extras.view_log.settings.ViewLogSettings",
    "docsite.extras.openid_connect.settings.OpenIdSettings",
)
_SPELLINGS = {
    "security_contact": (r"mailto:[^\s@]+@[^\s@]+|https://\S+", "mailto:security@example.com, or an https:// address"),
    "cdn_origin": (r"https?://[a-z0-9.-]+(:[0-9]+)?", "an origin without a path, such as https://cdn.example.com"),
    "metrics_token": ("[ -~]{16,}", "at least 16 printable ASCII characters, such as those of: openssl rand -hex 24"),
}
# First parts of paths of the service: where the proxy removes such a base path, they could not be told from it.
_OWN_PATHS = (
    *("admin", "ask", "de", "discovery", "feedback", "health", "invitations", "mcp", "search", "shared"),
    *("static", "support", "try-your-docs", "v1", "v2", "widget"),
)


class Env(AnalyticsEnv, AssistantEnv):
    """The settings that a self-hoster can change, read from the environment."""

    # Django looks for this on a setting each time it is read. Pydantic takes 3 microseconds to say that it is missing.
    _mask_wrapped: ClassVar[bool] = True

    secret_key: str = ""
    debug: bool = False
    allowed_hosts: List = ("127.0.0.1", "localhost", "[::1]")
    port: int = Field(default=8000, ge=1, le=65535)
    https_only: bool = False
    data_dir: Path = Path("var")
    database_url: str = ""
    database_seconds: Seconds = 5
    database_connections: int = Field(default=20, ge=12, le=500)
    redis_url: str = ""
    trusted_proxies: List = ()
    cdn_origin: str = ""
    site: bool = True
    site_domain: str = "demo"
    site_assistant_key: str = ""
    security_contact: str = ""
    shutdown_seconds: Seconds = 20
    drain_seconds: float = Field(default=0, ge=0, le=600)
    log_format: Literal["lines", "json"] = "lines"
    metrics_token: str = ""
    email_url: str = ""
    email_from: str = ""
    webhook_private_hosts: PrivateHosts = ()
    limit_cpu_ip: Rate = "1200/h"
    limit_agents_edge: Rate = "6000/m"
    limit_login_ip: Rate = "20/h"

    @field_validator("allowed_hosts")
    @classmethod
    def _check_hosts(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if not all(re.fullmatch(r"[^/]+(?:/(?!\.\.?(?:/|\Z))[\w.~-]+)*", host, re.ASCII) for host in value):
            raise ValueError("write host names, such as docs.example.com, or with a path: example.com/docs-service")
        bases = [host.lower().split("/", 2) for host in value if "/" in host]
        names = [host.lower().partition("/")[0] for host in value]
        if any(name[0] in ".*" or names.count(name) > 1 or first in _OWN_PATHS for name, first, *_ in bases):
            raise ValueError("write a path after one whole host name, once, and none that the service uses, as /admin")
        return value

    @field_validator(*_SPELLINGS)
    @classmethod
    def _check_spelling(cls, value: str, info: ValidationInfo) -> str:
        pattern, advice = _SPELLINGS[info.field_name or ""]
        if value and not re.fullmatch(pattern, value):
            raise ValueError(f"write {advice}")
        return value

    @field_validator("trusted_proxies")
    @classmethod
    def _check_networks(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for network in value:
            ipaddress.ip_network(network, strict=False)
        return value

    @field_validator("email_url")
    @classmethod
    def _check_email_url(cls, value: str) -> str:
        if value and not re.match(r"smtp(?:\+tls|\+ssl)?://[^/]+/?\Z", value):
            raise ValueError("write it as smtp+tls://user:password@host:587")
        check_port(value)
        return value

    @field_validator("email_from")
    @classmethod
    def _check_email_from(cls, value: str, info: ValidationInfo) -> str:
        if info.data.get("email_url") and "@" not in parseaddr(value)[1]:
            raise ValueError("write the address that e-mail comes from, such as docs@example.com")
        return value

    @field_validator("database_url")
    @classmethod
    def _check_database_url(cls, value: str) -> str:
        database_settings.describe(value, Path())  # raises ValueError
        return value

    @field_validator("redis_url")
    @classmethod
    def _check_redis_url(cls, value: str) -> str:
        if value and parse_redis_address(value) is None:
            check_port(value)
        return value


def list_models() -> list[type[BaseSettings]]:
    """The classes of all settings: those of the service, and those of the extras."""
    return [Env, *(import_string(path) for path in EXTRAS)]


def load() -> tuple[Env, dict[type[BaseSettings], Any]]:
    """The settings of the service, and those of the extras by their classes, from the environment.

    A wrong value ends the process with a sentence for each variable.
    """
    loaded: dict[type[BaseSettings], Any] = {}
    lines = []
    for model in list_models():
        try:
            loaded[model] = model()
        except ValidationError as wrong:
            lines += [_describe_error(error) for error in wrong.errors()]
    if lines:
        raise SystemExit("The environment has an invalid setting.\n" + "\n".join(lines))
    return loaded.pop(Env), loaded


def _describe_error(error: "ErrorDetails") -> str:
    name = str(error["loc"][0]).upper()
    meaning = describe_setting(name)
    says = error["msg"].removeprefix("Value error, ")
    says = "write a rate such as 100/h, 10000/d or 600/m" if error["type"] == "string_pattern_mismatch" else says
    return f"{name}: {says}." + (f" ({meaning})" if meaning else "")
