"""The facts of the core: the use of limits, refusals, and the database."""

import re
import time
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from django.conf import settings
from django.db import connection
from django.db.models import Max, Q, QuerySet, Sum
from django.template.defaultfilters import filesizeformat

from docsite.core import sql
from docsite.core.http import client_address, open_sockets, ratelimit
from docsite.core.http.errors import format_duration
from docsite.core.http.limit_use import HOUR, SERVICE
from docsite.core.http.ratelimit import Limit
from docsite.core.tenants.models import LimitUse, Project
from docsite.core.workspace.health.sections import Fact
from docsite.setting_types import describe_setting

WEEK_HOURS = 7 * 24
MAX_REFUSALS = 20  # lines
NEARLY = 0.8  # of a limit
_WINDOWS = {1: "a second", 60: "a minute", HOUR: "an hour", 24 * HOUR: "a day"}


def list_limits(project: Project) -> list[Fact]:
    """Each limit: its use now, and the most of the last week.

    The use of the organization is exact. Of a limit by address, the page knows only the most that one address has used.
    """
    uses = _uses(project)
    now = int(time.time()) // HOUR
    week, day, hour = (
        dict(uses.filter(hour__gt=now - hours).values_list("limit_name").annotate(Max("most")))
        for hours in (WEEK_HOURS, 24, 1)
    )
    facts = []
    for limit in sorted(ratelimit.all_limits.values(), key=lambda one: one.name):
        count, seconds = limit.window()
        if limit.by_organization:
            usage = next(iter(ratelimit.peek((limit, str(project.organization_id)))), None)
            used = count - usage.remaining if usage else 0
        else:
            used = (day if seconds > HOUR else hour).get(limit.name, 0)
        most = max(week.get(limit.name, 0), used)
        value = f"{used:,} of {count:,} in {_WINDOWS.get(seconds) or format_duration(seconds)}"
        note = f"at most {most:,} in the last week"
        if not limit.by_organization:
            note = f"by one caller{'' if seconds > HOUR else ' in this hour'}; {note}"
        share = used / count if count else 1.0
        facts.append(Fact(_label(limit), value, note, share, "bad" if share >= NEARLY else ""))
    return facts


def list_refusals(project: Project) -> list[Fact]:
    """The requests of the last week that were refused with status 429: which limit, in which hour, and how many."""
    refused = _uses(project).filter(refused__gt=0).values_list("hour", "limit_name")
    rows = refused.annotate(total=Sum("refused")).order_by("-hour", "limit_name")[:MAX_REFUSALS]
    labels = {limit.name: _label(limit) for limit in ratelimit.all_limits.values()}
    return [
        Fact(
            labels.get(name, name),
            f"{total:,} refused",
            f"{datetime.fromtimestamp(hour * HOUR, UTC):%Y-%m-%d %H}:00 UTC",
            state="bad",
        )
        for hour, name, total in rows
    ] or [Fact("Refused requests", "none", "in the last week", state="good")]


def list_database(project: Project) -> list[Fact]:
    """The kind and the size of the database, and what this process knows of sockets and of readers' addresses."""
    if connection.vendor == "postgresql":
        query = "SELECT current_setting('server_version'), pg_database_size(current_database())"
        kind, (version, size) = "PostgreSQL", sql.fetch_one(query)
    else:
        kind, version = "SQLite", sql.fetch_value("SELECT sqlite_version()")
        path = Path(str(connection.settings_dict["NAME"]))
        files = [path, path.with_name(f"{path.name}-wal")]
        size = sum(file.stat().st_size for file in files if file.exists())
    unread = "What the proxy forwards is no address: see the log, and run manage.py doctor --url."
    addresses = [Fact("Addresses of readers", "cannot be read", unread, state="bad")]
    return [
        *(addresses if client_address.found_unreadable() else ()),
        Fact("Database", f"{kind} {version}", filesizeformat(size)),
        Fact("Limits are counted in", "Redis" if settings.ENV.redis_url else "the database"),
        Fact("Open sockets", f"{open_sockets.count_all():,}", "of all projects, in this process"),
    ]


def _uses(project: Project) -> "QuerySet[LimitUse]":
    """What was noted for the project's organization in the last week, or for no organization."""
    own = Q(organization_id__in=[project.organization_id, SERVICE])
    return LimitUse.objects.filter(own, hour__gt=int(time.time()) // HOUR - WEEK_HOURS).order_by()


@cache
def _label(limit: Limit) -> str:
    """What it counts, for people."""
    if limit.label:
        return limit.label
    return re.split(r"\. |\.$|, | \(", describe_setting(limit.rate))[0]
