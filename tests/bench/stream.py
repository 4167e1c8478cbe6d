"""Measure our streaming relay beside its peers, interleaved in one run, and print one table with the targets.

    make bench-stream [ROUNDS=2] [ONLY=first,paced] [WITHOUT=litellm] [JSON=FILE]
    python -m tests.bench.stream --help

Ours: `manage.py serve` (Daphne: HTTP v1 and v2 in one process, the socket in another, so that memory is told
apart) and uvicorn with the same application. Peers: the bare fake model server, a minimal relay of Starlette,
uvicorn and httpx, and LiteLLM's proxy. Each relay is one process on the first core; the fake model server and the
readers share the last one. Packages of the peers go into `.venv-bench` on the first run. Linux only (`/proc`).

What the figures mean:

- Time to first token is counted from sending the question on an open connection. Our service always searches before
  it asks the model. "With retrieval" is that on a real documentation set: Django's, or the largest of the folder
  `--data`, which is asked the questions that are judged there. "Without" is the same on a project of one
  section, less the time between the tool's input and its output (`9:` and `a:`, `tool-input-available` and
  `tool-output-available`) as the reader saw them arrive.
- Questions are in people's words, and no process is asked one of them twice while it is timed. Our service is installed
  as `make demo` installs it: with the model for vectors, and with the vectors of all sections.
- "Added" is a relay's figure less that of the bare model server in the same run, whose own stands under "no relay".
- A token is 8 characters, about two real ones; CPU includes storing the answer while it streams. Each answer ends with
  a citation of the first passage: one without sources would be a gap, whose nearest pages are searched afterwards.
- "Reader gone" closes the connection; on the socket, where answers are resumable, it is the `stop` message.
- At 20 × 20 tokens/s no relay is busy. 10 × 200 tokens/s is about all that LiteLLM can do on one core. In a run where
  it just keeps up its delays are a few milliseconds, else seconds; so there is no ratio to it.
- "Saturated" is limited by the readers' core for what is faster than about 50,000 tokens/s.
- Stock Django is a startproject with its seven middlewares and an async view that looks the key up with the ORM.

`OURS=/path` measures another checkout of the service, `OURS_ENV="A=1 B=2"` sets more of its environment.
"""

import argparse
import asyncio
import json
import os
import platform
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.bench import documentation, relays, table
from tests.bench.load import Caller, Endpoint
from tests.bench.measure import Bench, Figures, Knobs, Target
from tests.bench.relays import Process, Stage, Trouble, say
from tests.bench.summary import to_json

MEASURES = ("memory", "first", "light", "paced", "saturated", "gone", "keyed", "many", "stall")
MOST_SECONDS = 1_800.0
COMPLETIONS = "/v1/chat/completions"


def arguments() -> argparse.Namespace:
    """What to measure, and how much of it."""
    knobs = Knobs()
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    add = parser.add_argument
    add("--rounds", type=int, default=2, help="how often the short measures take turns")
    add("--only", default=",".join(MEASURES), help=f"measures, of {','.join(MEASURES)}")
    add("--without", default="", help="columns to leave out: starlette,litellm,stock,v1,v2,socket,uvicorn")
    add("--asks", type=int, default=knobs.asks, help="questions for time to first token, per round")
    add("--slice", type=float, default=knobs.slice, help="seconds of a loaded slice")
    add("--streams", type=int, default=knobs.streams, help="streams at once of 20 tokens/s")
    add("--workers", type=int, default=1, help="processes of uvicorn; for 600 streams take 2, and three cores")
    add("--readers", type=int, default=knobs.readers, help="readers that stop reading")
    add("--stall", type=float, default=knobs.stall, help="seconds for which they do")
    add("--data", type=Path, help="folder of judged queries, whose largest set is the documentation; else Django's")
    add("--json", type=Path, help="also write all samples here")
    add("--logs", type=Path, help="keep the processes' logs in this folder")
    return parser.parse_args()


@dataclass
class Scene:
    """Everything that runs. `keyed` are the JSON requests to compare: column, process, client, path, queries,
    measure.
    """

    model: Process
    targets: list[Target]
    keyed: list[tuple[str, Process, Caller, str, Sequence[str], str]]
    problems: list[str]
    sections: int  # of the documentation


async def set_up(options: argparse.Namespace, stage: Stage) -> Scene:
    """Install what is missing, and start the service, its peers and the model server."""
    without = set(filter(None, options.without.split(",")))
    problems = []
    python = relays.install("ours", *relays.list_requirements())
    litellm: Path | None = None
    if "litellm" not in without:
        try:
            litellm = relays.install("litellm", relays.HERE / "requirements-litellm.txt")
        except Trouble as trouble:
            problems.append(str(trouble))
    say("Starting …")
    model = relays.start_model(stage)
    targets = [Target(table.BARE, Endpoint("openai", model.port, COMPLETIONS, "none"))]
    if "starlette" not in without:
        floor = relays.start_floor(stage, python, model)
        targets.append(Target(table.FLOOR, Endpoint("openai", floor.port, COMPLETIONS, "none"), floor))
    if litellm:
        proxy = relays.start_litellm(stage, litellm, model)
        targets.append(Target(table.LITELLM, Endpoint("openai", proxy.port, COMPLETIONS, relays.LITELLM_KEY), proxy))
    tenant = relays.prepare(stage, python, options.data or documentation.prepare())
    daphne = relays.serve(stage, "ours-daphne", "daphne", python, tenant, model)
    sockets = relays.serve(stage, "ours-socket", "daphne", python, tenant, model)
    uvicorn = relays.serve(stage, "ours-uvicorn", "uvicorn", python, tenant, model, options.workers)
    for name, process, kind in (
        (table.V1, daphne, "v1"),
        (table.V2, daphne, "v2"),
        (table.SOCKET, sockets, "socket"),
        (table.UVICORN, uvicorn, "v2"),
    ):
        if name.split()[-1] not in without:
            tiny = relays.build_endpoint(process, kind, tenant, relays.TINY)
            targets.append(Target(name, relays.build_endpoint(process, kind, tenant), process, tiny))
    keyed: list[tuple[str, Process, Caller, str, Sequence[str], str]] = []
    for domain, queries, measure in ((relays.EMPTY, ["feeder"], "json"), (relays.DOMAIN, tenant.questions, "search")):
        key, path = tenant.keys[domain], f"/discovery/v1/search/{domain}"
        for name, process in ((table.V1, daphne), (table.UVICORN, uvicorn)):
            keyed.append((name, process, Caller(process.port, key), path, queries, measure))
    if "stock" not in without:
        stock = relays.start_stock(stage, python)
        for name, path in ((table.STOCK, "/keyed"), ("stock without key", "/plain")):
            keyed.append((name, stock, Caller(stock.port, relays.STOCK_KEY), path, ["feeder"], "json"))
    for process in stage.processes:
        await relays.ready(process)
    return Scene(model, targets, keyed, problems, tenant.sections)


async def bench(options: argparse.Namespace, stage: Stage) -> str:
    """Set up, measure, and return the table."""
    only = options.only.split(",")
    if unknown := set(only) - set(MEASURES):
        raise Trouble(f"--only: there is no {', '.join(sorted(unknown))}.")
    began = time.monotonic()
    scene = await set_up(options, stage)
    knobs = Knobs(
        asks=options.asks, slice=options.slice, streams=options.streams, readers=options.readers, stall=options.stall
    )
    run = Bench(Caller(scene.model.port), knobs, stage.relay_core)
    for problem in scene.problems:
        run.figures.note(problem)

    def progress(what: str) -> None:
        say(f"{time.monotonic() - began:5.0f} s  {what}")

    async def turns(what: str, measure: Callable[[Target], Awaitable[None]], chosen: list[Target], shift: int) -> None:
        progress(what)
        shift %= max(1, len(chosen))
        for target in chosen[shift:] + chosen[:shift]:  # nobody always goes first
            await run.attempt(what, target.name, measure(target))

    def apart() -> list[Target]:
        """One target for each process."""
        return [target for target in targets if target.process and target.name != table.V1]

    targets = scene.targets
    if "memory" in only:
        await turns("memory", run.memory, apart(), 0)
    progress("warming up")
    targets = [target for target in targets if await run.attempt("warming up", target.name, run.warm(target))]
    if not any(target.process for target in targets):
        raise Trouble("\n".join(["No relay answers.", *run.figures.notes]))
    for number in range(options.rounds):
        if "first" in only:
            await turns("time to first token", run.first_token, targets, number)
        if "light" in only:
            await turns("20 × 20 tokens/s", run.light, targets, number)
        if "paced" in only:
            await turns("10 × 200 tokens/s", run.paced, targets, number)
        if "saturated" in only and number == 0:
            await turns("saturated", run.saturated, targets, number)
        if "gone" in only:
            await turns("reader gone", run.gone, [target for target in targets if target.process], number)
        if "keyed" in only:
            progress("keyed JSON")
            for name, *request in scene.keyed * 3:
                await run.attempt("keyed JSON", name, run.keyed(name, *request))
    if "many" in only:
        await turns(f"{options.streams} streams", run.many, [*(t for t in targets if not t.process), *apart()], 0)
    if "stall" in only:
        await turns("stalled readers", run.stalled, apart(), 0)

    for process in stage.processes:
        if process.popen.poll() is not None:
            run.figures.note(f"{process.name} ended during the run: {process.tail()[-300:]!r}")
    note_others(run.figures, targets)
    rows = table.rows(run.figures, options.readers, options.streams, options.stall)
    if options.json:
        samples = {f"{measure} | {name}": values for (measure, name), values in run.figures.samples.items()}
        summary = to_json(table.summarize(rows, run.witness))
        raw = {"summary": summary, "sections": scene.sections, "samples": samples, "notes": run.figures.notes}
        options.json.write_text(json.dumps(raw))
    taken = time.monotonic() - began
    head = (
        f"Python {platform.python_version()}, {scene.sections:,} sections, relays on core {stage.relay_core}, load on "
        f"core {stage.load_core}, {options.rounds} rounds, {taken:.0f} s. `!` misses its target.\n\n"
    )
    return f"{head}{table.render(rows, run.figures)}"


def note_others(figures: Figures, targets: list[Target]) -> None:
    """Say how much of the relays' core went to processes that were not measured."""
    shares = {target.name: found for target in targets if (found := figures.samples.get(("others", target.name)))}
    if not shares:
        return
    mean = sum(map(sum, shares.values())) / sum(map(len, shares.values()))
    worst = max(shares, key=lambda name: max(shares[name]))
    figures.note(
        f"Other processes took {mean:.0%} of the relays' core while it was measured under load, "
        f"at worst {max(shares[worst]):.0%} ({worst})."
    )


def main() -> int:
    """Run; every process ends with this one."""
    options = arguments()
    if not Path("/proc/self/stat").exists() or not shutil.which("taskset"):
        say("This benchmark needs Linux with /proc and taskset.")
        return 2
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that `finally` runs
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        stage = Stage(Path(folder))
        if stage.relay_core == stage.load_core:
            say("Only one core: relays and load share it, and the figures say little.")
        os.sched_setaffinity(0, {stage.load_core})
        try:
            shown = asyncio.run(asyncio.wait_for(bench(options, stage), MOST_SECONDS))
        except Trouble as trouble:
            say(str(trouble))
            return 1
        except TimeoutError:
            say(f"The run took more than {MOST_SECONDS:.0f} s.")
            return 1
        finally:
            stage.end()
            if options.logs:
                options.logs.mkdir(parents=True, exist_ok=True)
                for log in Path(folder).glob("*.log"):
                    shutil.copy(log, options.logs)
    sys.stdout.write(shown + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
