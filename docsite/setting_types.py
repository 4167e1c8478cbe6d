"""Types of settings, for the classes that declare some, and what settings mean."""

import re
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict


class Settings(BaseSettings):
    """Environment variables of one subject. Their names are those of the fields, in capitals."""

    model_config = SettingsConfigDict(env_ignore_empty=True, extra="ignore")


_PAGE = Path(__file__).parent / "site" / "content" / "configuration.md"


def describe_setting(name: str) -> str:
    """The meaning of a variable, as the documentation says it. Empty if there is none of that name."""
    row = re.search(rf"^\| `{name.upper()}` \| [^|]* \| (.+) \|$", _PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    return row[1] if row else ""


def check_port(url: str) -> None:
    """Raise ValueError if the port of an address is no number of a port."""
    try:
        urlsplit(url).port  # noqa: B018  # raises for an invalid port
    except ValueError:
        raise ValueError("the port must be a number from 0 to 65535") from None


def _split(value: object) -> object:
    return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value


def _check_hosts(value: tuple[str, ...]) -> tuple[str, ...]:
    for host in value:
        if "://" in host:
            raise ValueError("write hosts without a scheme, such as docs.internal:8080")
        if host.count(":") == 1 or "]:" in host:  # else an IPv6 address
            check_port(f"//host:{host.rpartition(':')[2] or 'none'}")
    return value


def _check_base_url(value: str) -> str:
    if value and not re.match(r"https?://[^/]+", value):
        raise ValueError("write it with its scheme, such as http://127.0.0.1:11434/v1")
    check_port(value)
    return value.rstrip("/")


def _check_header_value(value: str) -> str:
    if not (value.isascii() and (value.isprintable() or not value)):
        raise ValueError("must be printable ASCII, because it is sent in a header")
    return value


Rate = Annotated[str, Field(pattern=r"^[1-9][0-9]*/([1-9][0-9]*)?[smhd]$")]
Seconds = Annotated[float, Field(gt=0, le=86_400)]
List = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split)]
PrivateHosts = Annotated[List, AfterValidator(_check_hosts)]
BaseUrl = Annotated[str, AfterValidator(_check_base_url)]
ModelServerKey = Annotated[str, AfterValidator(_check_header_value)]
