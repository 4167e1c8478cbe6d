"""The environment variables of the service, each with type, default and meaning. Each app and extra declares its own.

The models feed `settings.py`, the configuration page of the documentation and the
test that compares the two. An invalid value stops the start-up with a sentence
that names the variable.
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
from docsite.setting_types import List, PrivateHosts, Rate, Seconds, check_port

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

# Named, not imported: like the apps of `settings.py`, extras know the service, and it does not know them.
EXTRAS = (
    "docsite.extras.view_log.settings.ViewLogSettings",
    "docsite.extras.openid_connect.settings.OpenIdSettings",
)


class Env(AnalyticsEnv, AssistantEnv):
    """The settings that a self-hoster can change, read from the environment."""

    # Django looks for this on a setting each time it is read. Pydantic takes 3 microseconds to say that it is missing.
    _mask_wrapped: ClassVar[bool] = True

    secret_key: str = Field(
        default="",
        description="Signs sessions. Empty: the service creates a key at its first start and stores it in "
        "`DATA_DIR/secret_key`. Set the same value on every host.",
    )
    debug: bool = Field(default=False, description="Show tracebacks in the browser. Never on a public host.")
    allowed_hosts: List = Field(
        default=("127.0.0.1", "localhost", "[::1]"),
        description="Host names the service answers to, separated by commas.",
    )
    port: int = Field(
        default=8000,
        ge=1,
        le=65535,
        description="Port on which `serve` and `demo` listen, unless `--port` names another one.",
    )
    https_only: bool = Field(
        default=False,
        description="Set this when readers reach the service over HTTPS only. Cookies of the admin are then sent over "
        "HTTPS only, and browsers are told to use only HTTPS (`Strict-Transport-Security`). Name your proxy in "
        "`TRUSTED_PROXIES`.",
    )
    data_dir: Path = Field(
        default=Path("var"),
        description="Folder of the database and of generated secrets. Only its owner can enter it.",
    )
    database_url: str = Field(
        default="",
        description="`postgres://user:password@host/name`, or `sqlite:///path`. With "
        "[several servers](/growing#failover-of-postgresql), `postgres://user:password@host:5432,host:5432/name`, the "
        "service uses the one that can be written. Empty: SQLite in `DATA_DIR/db.sqlite3`.",
    )
    database_seconds: Seconds = Field(
        default=5,
        description="How long PostgreSQL may take to answer a request of a reader. After that the reader gets 503. "
        "Reports may take twelve times as long; commands and background work have no limit.",
    )
    database_connections: int = Field(
        default=20, ge=12, le=500, description="Maximum number of connections of a process to PostgreSQL."
    )
    redis_url: str = Field(
        default="",
        description="`redis://host:6379/0`, or [a cluster or Sentinel](/growing#redis): Redis counts rate limits, and "
        "every process can resume every answer. "
        "Empty: the database counts rate limits, and only the process that writes an answer can resume "
        "it.",
    )
    trusted_proxies: List = Field(
        default=(),
        description="Addresses or networks of reverse proxies, separated by commas. "
        "`X-Forwarded-For` and `X-Forwarded-Proto` are read only from these.",
    )
    cdn_origin: str = Field(
        default="",
        description="Origin of a content delivery network, such as `https://cdn.example.com`, that fetches `/static/`, "
        "`/widget/` and the scripts of the tags from this service. The pages of the service load their static files "
        "there, and the tags in the admin name it: [steps](/deployment#a-content-delivery-network).",
    )
    site: bool = Field(
        default=True,
        description="Serve this documentation at `/`. `false`: `/` leads to the admin. Only people who are logged in "
        "to the admin can read the pages of this documentation; others get 404. Support forms stay.",
    )
    site_domain: str = Field(
        default="demo",
        description="Domain of the project whose documentation this service itself serves at `/`.",
    )
    site_assistant_key: str = Field(
        default="", description="Assistant key for the widget on those pages. `make demo` sets it."
    )
    security_contact: str = Field(
        default="",
        description="Where to report a vulnerability, as `mailto:security@example.com` or an `https` address. "
        "Then `/.well-known/security.txt` names it.",
    )
    shutdown_seconds: Seconds = Field(
        default=20, description="How long running answers may continue after SIGTERM, the signal to stop."
    )
    drain_seconds: float = Field(
        default=0,
        ge=0,
        le=600,
        description="How long the service accepts requests after SIGTERM, while `/health/ready` answers 503. Set it to "
        "more than the interval at which a load balancer asks. A proxy that tries the next process needs no such time.",
    )
    log_format: Literal["lines", "json"] = Field(
        default="lines", description="Format of the log on standard error: `lines`, or `json` with one object a line."
    )
    metrics_token: str = Field(
        default="",
        description="With `Authorization: Bearer` and this token of at least 16 characters, Prometheus may read "
        "`/metrics`. Empty: that address does not exist.",
    )
    email_url: str = Field(
        default="",
        description="Mail server for e-mail to owners: `smtp+tls://user:password@host:587` (STARTTLS), "
        "`smtp+ssl://…:465` (TLS from the start), or `smtp://host:25` without encryption. Write special characters of "
        "the password as `%40` and so on. Empty: no e-mail is sent.",
    )
    email_from: str = Field(
        default="",
        description="With `EMAIL_URL`: the address that e-mail comes from, such as "
        "`Docs <docs@example.com>`. Your mail server must be allowed to send for it.",
    )
    webhook_private_hosts: PrivateHosts = Field(
        default=(),
        description="Private hosts or networks that webhooks may call, also over http: as in `CRAWL_PRIVATE_HOSTS`.",
    )
    limit_cpu_ip: Rate = Field(
        default="1200/h",
        description="Whole seconds of CPU time that the questions and searches of a client address may use.",
    )
    limit_new_keys_org: Rate = Field(
        default="10/h", description="Keys that an organization may create in the admin. Commands have no limit."
    )
    limit_login_ip: Rate = Field(default="20/h", description="Attempts to log in to the admin per client address.")

    @field_validator("security_contact")
    @classmethod
    def _check_contact(cls, value: str) -> str:
        if value and not re.fullmatch(r"mailto:[^\s@]+@[^\s@]+|https://\S+", value):
            raise ValueError("write mailto:security@example.com, or an address that begins with https://")
        return value

    @field_validator("cdn_origin")
    @classmethod
    def _check_origin(cls, value: str) -> str:
        if value and not re.fullmatch(r"https?://[a-z0-9.-]+(:[0-9]+)?", value):
            raise ValueError("write an origin without a path, such as https://cdn.example.com")
        return value

    @field_validator("metrics_token")
    @classmethod
    def _check_token(cls, value: str) -> str:
        if value and (len(value) < 16 or not value.isascii() or not value.isprintable()):
            raise ValueError("write at least 16 printable ASCII characters, such as those of: openssl rand -hex 24")
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
            lines += [_describe_error(model, error) for error in wrong.errors()]
    if lines:
        raise SystemExit("The environment has an invalid setting.\n" + "\n".join(lines))
    return loaded.pop(Env), loaded


def _describe_error(model: type[BaseSettings], error: "ErrorDetails") -> str:
    name = str(error["loc"][0])
    field = model.model_fields.get(name)
    says = error["msg"].removeprefix("Value error, ")
    says = "write a rate such as 100/h, 10000/d or 600/m" if error["type"] == "string_pattern_mismatch" else says
    return f"{name.upper()}: {says}." + (f" ({field.description})" if field else "")
