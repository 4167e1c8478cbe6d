"""Each part of the profile `grown` is killed, and each falls silent, under load: one row of a table for each."""

import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from tests.bench.page import CONTENT, describe_machine, replace_section
from tests.conftest import Upstream
from tests.grown.parts import wait_until
from tests.grown.profile import WEB, Profile
from tests.services.faults.load import LIMITS, Load, Site, Stored, make_site

pytestmark = [pytest.mark.services, pytest.mark.faults]

PARTS: dict[str, Callable[[Profile], str]] = {
    "NATS, a follower": lambda profile: profile.nats_roles()[1][0],
    "NATS, the leader": lambda profile: profile.nats_roles()[0],
    "PostgreSQL, the primary": lambda profile: profile.primary,
    "PgBouncer of the primary": lambda profile: f"pgbouncer-{profile.primary[-1]}",
    "Redis, the primary": lambda profile: profile.find_redis_primary(),
    "a web process": lambda profile: WEB[0],
    "the worker": lambda profile: "worker",
    "nginx": lambda profile: "nginx",
}
WAYS = ("killed", "silent")
THREADS = ("view", "ask", "search", "push", "view", "ask", "search", "ask")

AWAY_SECONDS = 5.0  # that a killed part is away; Sentinel needs two of them to notice
PROMOTE_SECONDS = 3.0  # until whoever watches PostgreSQL has promoted the standby
SILENT_SECONDS = 12.0  # longer than all time limits of a request
READER_SECONDS = 20.0  # after which the program of a reader gives up
PAUSE_SECONDS = 0.2  # between two requests of a client
BACK_SECONDS = 120.0  # after which everything must work again
LEVEL = re.compile(r"^\d{4}-\d\d-\d\d \S+ (?:WARNING|ERROR|CRITICAL) ", re.MULTILINE)
COLUMNS = (
    *("part", "views", "lost / doubled", "answers"),
    *("refused: views", "searches", "questions", "pushes", "wait", "log"),
)


@dataclass(frozen=True)
class Row:
    """What one fault did. `counted` is the number of views in the report."""

    part: str
    way: str
    load: Load
    stored: Stored
    counted: int
    log: str

    @property
    def lost(self) -> int:
        """Acknowledged views, answers and pushes that are missing."""
        views = max(self.stored.views, len(self.load.views) - self.counted)
        return views + self.stored.answers + self.stored.pushes

    @property
    def doubled(self) -> int:
        """Views that are stored or counted twice."""
        return self.stored.rows - self.stored.keys + max(self.counted - self.stored.keys, 0)

    @property
    def cells(self) -> list[str]:
        """Its cells in the table."""
        ends = self.load.endings
        refusals = [self.load.refused(kind) for kind in ("view", "search", "ask", "push")]
        return [
            *(f"{self.part}, {self.way}", f"{len(self.load.views):,}", f"{self.lost} / {self.doubled}"),
            f"{ends['finished']} / {ends['resumed']} / {ends['told'] + ends['open']}",
            *(f"{seconds:.1f} ({count})" if count else "0" for count, seconds in refusals),
            " / ".join(f"{self.load.longest_wait(kind):.1f}" for kind in ("view", "search")),
            f"{len(LEVEL.findall(self.log))}",
        ]


@pytest.fixture(scope="module")
def profile(upstream: Upstream) -> Iterator[Profile]:
    """The profile with the scripted model."""
    model = {"OPENAI_BASE_URL": f"{upstream.url}/v1", "OPENAI_API_KEY": "sk-secret", "OPENAI_MODEL": "fake-1"}
    profile = Profile(**LIMITS, **model, DATABASE_SECONDS="5")
    try:
        profile.start()
        yield profile
    finally:
        profile.end()


@pytest.fixture(scope="module")
def rows(report: Callable[[str], None]) -> Iterator[list[Row]]:
    """The rows of all faults. In the end they are printed as a table, and written into the page with WRITE=1."""
    busy = os.getloadavg()[0]
    rows: list[Row] = []
    yield rows
    lines = [list(COLUMNS), ["---"] * len(COLUMNS), *(row.cells for row in rows)]
    table = "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
    report(table)
    if os.environ.get("WRITE"):
        assert len(rows) == len(PARTS) * len(WAYS), "a fault could not be measured: the page stays as it is"
        text = (
            f"A part that is killed is started again after {AWAY_SECONDS:.0f} seconds. A silent one goes on after "
            f"{SILENT_SECONDS:.0f} seconds. In place of the primary of PostgreSQL the standby is promoted after "
            f"{PROMOTE_SECONDS:.0f} seconds. A reader waits {READER_SECONDS:.0f} seconds for an answer to a request. "
            f"Measured on {describe_machine()}; when it began, other work kept {busy:.0f} processes busy."
        )
        replace_section(CONTENT / "at-scale.md", "### One by one", f"{text}\n\n{table}")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("part", PARTS)
def test_a_part_fails_and_nothing_acknowledged_is_lost(
    rows: list[Row], profile: Profile, report: Callable[[str], None], tmp_path: Path, part: str, way: str
) -> None:
    site = make_site(profile.commands)
    name = PARTS[part](profile)
    logs = {each: profile.parts[each].log.stat().st_size for each in (*WEB, "worker")}
    with Load(site, [profile.url], len(THREADS), THREADS, READER_SECONDS, PAUSE_SECONDS) as load:
        load.wait_for_each(3, BACK_SECONDS)
        (kill if way == "killed" else silence)(profile, name)
        load.wait_for_each(5, BACK_SECONDS)
    stored = load.compare(profile.commands, tmp_path)
    log = "".join(profile.parts[each].log.read_text()[size:] for each, size in logs.items())
    row = Row(part, way, load, stored, count_views(profile, site, len(load.views)), log)
    rows.append(row)
    report(f"{part}, {way} ({name}): {' | '.join(row.cells[1:])}")
    profile.mend()
    assert (row.lost, row.doubled) == (0, 0), stored
    assert load.endings["open"] == 0, "an answer had no end"
    assert "Traceback" not in log, log[-5000:]


def kill(profile: Profile, name: str) -> None:
    """Kill a part. It is started again, or the standby takes its place."""
    profile.parts[name].kill()
    if name == profile.primary:
        time.sleep(PROMOTE_SECONDS)
        profile.promote()
    else:
        time.sleep(AWAY_SECONDS)
        profile.parts[name].start()


def silence(profile: Profile, name: str) -> None:
    """Let a part be silent for a while."""
    part = profile.parts[name]
    part.silence()
    if name == profile.primary:
        time.sleep(PROMOTE_SECONDS)
        profile.promote()
        time.sleep(SILENT_SECONDS - PROMOTE_SECONDS)
        part.kill()  # fenced: it has said nothing since
    else:
        time.sleep(SILENT_SECONDS)
        part.resume()


def count_views(profile: Profile, site: Site, expected: int) -> int:
    """The views of the report, when they are as many as expected or do not change any more."""
    path = f"{profile.url}/v1/analytics/{site.project_id}/views"
    headers = {"Authorization": f"Bearer {site.admin_key}"}
    found = 0

    def is_complete() -> bool:
        nonlocal found
        found = int(httpx.get(path, headers=headers, trust_env=False, verify=False).json()["totals"]["total"])
        return found >= expected

    with suppress(TimeoutError):
        wait_until(is_complete, "the report", 10)
    return found
