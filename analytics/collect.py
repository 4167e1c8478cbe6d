"""Accept page views: class them, hash who it was, store them once, and only then say so."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlsplit

from django.db import connection, transaction

from analytics import agents
from analytics.agents import Verdict
from analytics.identity import visitor
from analytics.models import PageView
from docsite.http.client_ip import Address
from docsite.paths import normalize
from docsite.projects.models import Project

NOT_COUNTED = ("search_crawler", "other_bot", "http_client")


@dataclass(frozen=True)
class Observation:
    """A view as it was seen, before anything is thrown away.

    `private` is a reader's wish not to be followed (`Sec-GPC`, `DNT`).
    """

    view_id: str
    raw_path: str
    at: datetime
    address: Address
    user_agent: str
    accept: str = ""
    referrer: str = ""
    private: bool = False
    sample: bool = False


@dataclass(frozen=True)
class Receipt:
    """What became of a batch: new views in the counts, views known already, and new ones outside the counts."""

    accepted: int
    duplicates: int
    ignored: int


def record(project: Project, observations: Sequence[Observation]) -> Receipt:
    """Store the views in one transaction. Committed when this returns; a known `view_id` is not stored again."""
    first = {seen.view_id: seen for seen in reversed(observations)}
    with transaction.atomic():
        new = _insert([_row(project, seen) for seen in first.values()])
    ignored = sum(not counts(first[view_id]) for view_id in new)
    return Receipt(len(new) - ignored, len(observations) - len(new), ignored)


def counts(seen: Observation) -> bool:
    """Whether a view is in `human` or `ai`, or only kept for the report."""
    verdict = agents.classify(seen.user_agent)
    return verdict.client_class not in NOT_COUNTED or agents.is_markdown_fetch(verdict, seen.raw_path, seen.accept)


def _row(project: Project, seen: Observation) -> PageView:
    verdict: Verdict = agents.classify(seen.user_agent)
    human = verdict.client_class == "human"
    client = verdict.agent if verdict.client_class in agents.AI_CLASSES else seen.user_agent[: agents.LONGEST]
    return PageView(
        project=project,
        view_id=seen.view_id,
        at=seen.at,
        path=normalize(seen.raw_path),
        client_class=verdict.client_class,
        markdown=agents.is_markdown_fetch(verdict, seen.raw_path, seen.accept),
        visitor=visitor(
            project.visitor_secret, seen.address, client, daily_at=seen.at if seen.private and human else None
        ),
        agent=verdict.agent,
        operator=verdict.operator,
        rule=verdict.rule,
        rules_version=agents.VERSION,
        referrer=_origin(seen.referrer),
        user_agent="" if human else _printable(seen.user_agent[: agents.LONGEST]),
        sample=seen.sample,
    )


def _insert(rows: list[PageView]) -> set[str]:
    """Insert the rows that are new, and return their view ids. One statement, so that two writers cannot both count."""
    if not rows:
        return set()
    fields = [field for field in PageView._meta.concrete_fields if not field.primary_key]
    columns = ", ".join(connection.ops.quote_name(field.column) for field in fields)
    marks = ", ".join(["(" + ", ".join(["%s"] * len(fields)) + ")"] * len(rows))
    values = [
        field.get_db_prep_save(getattr(row, field.attname), connection=connection) for row in rows for field in fields
    ]
    table = connection.ops.quote_name(PageView._meta.db_table)
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {table} ({columns}) VALUES {marks} "
            "ON CONFLICT (project_id, view_id) DO NOTHING RETURNING view_id",
            values,
        )
        return {view_id for (view_id,) in cursor.fetchall()}


def _origin(referrer: str) -> str:
    """Scheme and host of a referrer; where exactly somebody came from is not kept."""
    try:
        parts = urlsplit(referrer)
    except ValueError:
        return ""
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"[:200] if parts.scheme in ("http", "https") else ""


def _printable(text: str) -> str:
    return "".join(character if character.isprintable() else " " for character in text)
