"""The setting of the view log."""

import importlib.util
import re

from django.conf import settings
from pydantic import field_validator

from docsite.setting_types import Settings, check_port


class ViewLogSettings(Settings):
    """Where the log is."""

    view_log_url: str = ""

    @field_validator("view_log_url")
    @classmethod
    def _check_view_log(cls, value: str) -> str:
        if not value:
            return value
        if not re.fullmatch(r"(nats|tls)://([^@/\s#?]+@)?[^@/,\s#?]+(,[^@/,\s#?]+)*/?", value):
            raise ValueError(
                "write it as nats://user:password@host:4222, and further servers as ,host:4222. In a password, write "
                "%40 for @, %23 for #, %25 for %, %2F for / and %3F for ?"
            )
        for host in value.rstrip("/").rpartition("@")[2].rpartition("://")[2].split(","):
            check_port(f"//{host}")
        if importlib.util.find_spec("nats") is None:
            raise ValueError("needs the client of NATS: pip install 'nats-py~=2.16'")
        return value


def read_url() -> str:
    """The address of the log for this process. Empty without one."""
    own: ViewLogSettings = settings.EXTRAS[ViewLogSettings]
    return own.view_log_url
