"""The parts of a run: every set is asked its own questions and some of the other sets, then our service over HTTP."""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.bench.answers import checks, over_http
from tests.bench.others import Witness
from tests.bench.relays import Trouble
from tests.bench.search.engines import OURS, Worker
from tests.training.data import Collection, Query

SITE = "https://docs.example"  # that the sets are said to be published at
OF_HTTP = ("question", "sentence")  # kinds that are asked over HTTP

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Answer:
    """What a set answered to a query, its own or another set's. `quoted` is known where it must quote some words."""

    set: str
    query: Query
    text: str
    sources: list[str]  # pages
    searched: list[str]  # what search finds
    faults: list[tuple[str, str]]  # each citation, and what is wrong with it
    quoted: bool | None = None

    @property
    def own(self) -> bool:
        """Whether the set answers the query."""
        return self.query.set == self.set

    @property
    def refused(self) -> bool:
        """Whether it says that the documentation does not answer."""
        return not self.sources


@dataclass
class Figures:
    """Everything that was measured."""

    answers: list[Answer] = field(default_factory=list)
    chances: dict[tuple[str, str], float] = field(default_factory=dict)  # of what went wrong, by set and query's id
    http: list[over_http.Asked] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass
class Run:
    """The process of a run and what it gave."""

    data: Collection
    source: Path
    folder: Path
    progress: Progress
    is_shipped: bool = False  # use the shipped weights
    figures: Figures = field(default_factory=Figures)
    keys: dict[str, str] = field(default_factory=dict)
    ours: Worker = field(init=False)
    witness: Witness = field(default_factory=Witness)

    def __post_init__(self) -> None:
        database = self.folder / OURS
        database.mkdir()
        command = [sys.executable, "-m", "tests.bench.answers.ours"]
        env = {"DATA_DIR": str(database), "DJANGO_SETTINGS_MODULE": "docsite.settings"}
        self.ours = Worker(OURS, command, self.folder, **env)

    def build(self) -> None:
        """Index every set."""
        for name, folder in self.data.sets.items():
            built = self.ours.call("build", set=name, folder=str(folder))
            self.keys[name] = built["key"]
            if built["bad"]:
                self.figures.notes.append(f"{name}: {len(built['bad'])} pages could not be read.")

    def ask(self) -> None:
        """Every set what it is asked, with weights that have not seen it."""
        if not self.is_shipped:
            self.progress("training without each set in turn")
        places = {"source": str(self.source), "folder": str(self.folder)}
        prepared = self.ours.call("prepare", **places, shipped=self.is_shipped)["asked"]
        queries = {query.id: query for query in self.data.judged}
        for name, ids in prepared.items():
            self.progress(f"asking {name}")
            asked = [queries[qid] for qid in ids]
            self.figures.answers += self._answers(name, asked)

    def _answers(self, name: str, asked: list[Query]) -> Iterator[Answer]:
        pages = self.ours.call("pages", set=name)
        shown = {path: checks.Page(page["title"], page["sections"]) for path, page in pages.items()}
        found = self.ours.call("ask", set=name, queries=[query.request for query in asked])["answers"]
        for query, given in zip(asked, found, strict=True):
            quoted = None
            if query.source == "faq" and query.set == name:
                written = "\n\n".join(pages[path]["content"] for path in query.relevant if path in pages)
                quoted = checks.quotes(given["text"], query.text, written)
            yield Answer(name, query, **given, faults=list(checks.faults(given["text"], SITE, shown)), quoted=quoted)

    def explain(self) -> None:
        """How likely an answer was taken to be where it was refused or given wrongly."""
        for name in self.data.sets:
            wrong = [answer for answer in self.figures.answers if answer.set == name and answer.own == answer.refused]
            chances = self.ours.call("chance", set=name, queries=[answer.query.request for answer in wrong])["chances"]
            for one, chance in zip(wrong, chances, strict=True):
                self.figures.chances[name, one.query.id] = chance

    def http(self) -> None:
        """Questions and sentences to `manage.py serve`, without a model and with the fake one."""
        asked = [query for query in self.data.judged if query.kind in OF_HTTP and not query.variant]
        if not asked:
            raise Trouble(f"No query is of the kinds {', '.join(OF_HTTP)}.")
        self.figures.http = over_http.measure(asked, self.keys, self.folder, self.folder / OURS)

    def end(self) -> None:
        """End the process."""
        self.ours.end()

    def raw(self) -> dict[str, Any]:
        """All samples, ready for JSON."""
        return {
            "answers": [
                {"set": answer.set, "qid": answer.query.id, "text": answer.text, "sources": answer.sources}
                | {"searched": answer.searched, "faults": [fault for fault in answer.faults if fault[1]]}
                | ({} if answer.quoted is None else {"quoted": answer.quoted})
                for answer in self.figures.answers
            ],
            "http": [vars(figure) for figure in self.figures.http],
            "notes": self.figures.notes,
        }
