"""A replay as Markdown, for the comment on a pull request, which may be public.

Pages and questions are quoted as code: they are foreign. What fewer than `MIN_READERS` readers asked is only counted.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from docsite.extras.replay.answers import ANSWERED, CLOSEST, Answer
from docsite.extras.replay.asked import DAYS, MIN_READERS

if TYPE_CHECKING:
    from docsite.extras.replay.comparison import Replay, Row
    from docsite.extras.replay.held import Closed

MAX_LISTED = 20
_STATES = {CLOSEST: "closest passages", ANSWERED: "answered"}


def describe_replay(replay: "Replay") -> list[str]:
    """The lines of a replay."""
    if not replay.found:
        return [f"Nobody asked anything in the last {DAYS} days.", ""]
    numbers = replay.summarize()
    before, after = replay.shares
    groups = f"{len(replay.rows):,} groups"
    if len(replay.rows) < replay.found:
        groups = f"{len(replay.rows):,} of {replay.found:,} groups, the newest: the time was up"
    asked = f"{replay.times:,} questions and searches of the last {DAYS} days, in {groups}."
    lines = [f"#### Readers' questions: answered {before * 100:.0f} → {after * 100:.0f} %", "", asked, ""]
    if not numbers["lost"] and not numbers["won"]:
        return [*lines, "None is lost, and none is won.", ""]
    lines += _list("lose their answer" if numbers["lost"] != 1 else "loses its answer", replay.select("lost"))
    return lines + _list("win an answer" if numbers["won"] != 1 else "wins an answer", replay.select("won"))


def describe_closed(closed: "Iterable[Closed]") -> list[str]:
    """What became of gaps that were closed before."""
    lines = [f"- {quote(one.question)}: {one.describe()}" for one in closed]
    return ["**Gaps closed before:**", "", *lines, ""] if lines else []


def _list(verb: str, rows: "Sequence[Row]") -> list[str]:
    if not rows:
        return []
    lines = [f"**{len(rows)} {verb}:**", ""]
    quotable = [row for row in rows if row.asked.is_quotable]
    for row in quotable[:MAX_LISTED]:
        lines.append(f"- {quote(row.asked.shown)}, asked {row.asked.times:,} times")
        for name, answer in (("before", row.before), ("after", row.after)):
            lines.append(f"  - {name}: {describe_answer(answer)}")
    if len(quotable) > MAX_LISTED:
        lines.append(f"- and {len(quotable) - MAX_LISTED} more")
    if few := len(rows) - len(quotable):
        start = "- and" if quotable else "-"
        lines.append(f"{start} {few} asked by fewer than {MIN_READERS} known readers, in the admin")
    return [*lines, ""]


def describe_answer(answer: Answer) -> str:
    """An answer in one line."""
    words = [_STATES.get(answer.state, answer.state)]
    words += [quote(answer.page)] if answer.page else []
    words += [f"place {answer.place}"] if answer.place else []
    return ", ".join(words) + (f": {quote(answer.passage)}" if answer.passage else "")


def quote(text: str) -> str:
    """A text that Markdown shows as it is."""
    return "`{}`".format(" ".join(text.replace("`", "'").split()))
