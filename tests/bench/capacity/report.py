"""The tables of the page "At scale": measured on one machine, and computed from there."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.bench.others import MAX_SHARE

MEASURED, OPERATED = "## What was measured", "## What an operator's tasks take"
COSTS = "## What a request costs each part"
COMPUTED = "## What 10,000 sites and a billion views a month take"
ASSUMPTIONS = {
    "views": 1e9,
    "searches": 0.03,
    "questions": 0.005,
    "peak": 3.0,
    "busy": 0.6,
    "raw_days": 30.0,
    "core_price": 20.0,
    "gigabyte_price": 0.1,
    "tokens": 3_000.0,
    "token_price": 0.5,
}
_WORDS = {
    "views": "views a month, of all sites together",
    "searches": "searches for each view",
    "questions": "questions for each view",
    "peak": "times the mean rate at the peak",
    "busy": "of a core may be busy at the peak",
    "raw_days": "days for which raw views are stored",
    "core_price": "price of a core with its memory for a month",
    "gigabyte_price": "price of a gigabyte for a month; everything is stored three times",
    "tokens": "tokens that a model reads and writes for a question",
    "token_price": "price of a million tokens; 0 for a model of your own, whose machines are not counted here",
}
_MONTH = 30 * 86_400.0  # seconds
MONTHLY = {"view": 1e9, "search": 3e7, "ask with a model": 1e6}
MONTHLY_PROJECTS, ROUND_SECONDS = 10_000, 300.0  # of `analytics.counting.background`, where there are so many
PARTS = ("web", "worker", "PostgreSQL", "Redis", "NATS")
_NAMES = {"search": "search", "ask": "question, no model", "view": "view", "mix": "mix"}
_COPIES = 3
_PRICES = (0.01, 0.1, 1.0)  # of a question, for comparison


def describe_measured(results: Mapping[str, Any]) -> str:
    """What the databases held, then a row for each load on the middle number of projects."""
    amounts = results["amounts"]
    middle = sorted(amounts["projects"])[len(amounts["projects"]) // 2]
    lines = [
        f"Every line is measured: on {results['machine']}, in {results['minutes']:.0f} minutes. Each database held "
        f"{max(amounts['projects']):,} projects, {amounts['views']:,} views, {amounts['sections']:,} sections and "
        f"{amounts['conversations']:,} conversations, half of them of one project. Eight clients, on the same cores, "
        f"waited for each answer. Requests went to {middle:,} projects; `--json FILE` has those to fewer and to more. "
        "The mix is 16 views and 3 searches to a question. CPU is of one request. In these few seconds most views are "
        "the first of their page, which needs more statements. The column “growth” is bytes of the database for each "
        "request."
        + (
            " These tables are from the short form (`SHORT=1`), a hundredth of everything."
            if results["is_short"]
            else ""
        ),
        "",
        "| database | processes | load | a second | p50 / p95 ms | CPU web / database ms | memory MB | growth B | |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name, database in results["databases"].items():
        for one in [load for load in database["loads"] if load["projects"] == middle]:
            failed = f"{one['failures']} failed" if one["failures"] else ""
            lines.append(
                f"| {name} | {one['processes']} | {_NAMES[one['kind']]} "
                f"| {one['per_second']:,.0f} | {one['p50']:.1f} / {one['p95']:.1f} "
                f"| {one['web_cpu']:.1f} / {one['database_cpu']:.1f} | {one['memory'] / 1e6:,.0f} "
                f"| {one['growth']:,.0f} | {'; '.join(filter(None, [_judge(one), failed]))} |"
            )
    lines.append("")
    for name, database in results["databases"].items():
        for count, idle in database["idle"].items():
            lines.append(
                f"- Idle, {name}, {count} process{'es' * (count != '1')}: {idle['web']:.1%} of a core in the service, "
                f"{idle['database']:.1%} in the database, {idle['memory'] / 1e6:,.0f} MB."
            )
    return "\n".join(lines)


def describe_costs(results: Mapping[str, Any]) -> str:
    """A row for each kind of request, number of processes and of projects."""
    lines = [
        f"`make capacity COSTS=1` measures this table in some ten minutes: on {results['machine']}. The databases held "
        f"{results['views']:,} views and 10,000 projects, of which 100 have pages. Eight clients waited for each "
        "answer, on the same cores; one pushed. CPU is milliseconds of each part for one request, of a batch of 100 "
        "views for one view, with what the worker does afterwards; the median of three rounds. PostgreSQL stands for "
        "the profile: web processes without background work, a worker, PostgreSQL, Redis and a view log in NATS.",
        "",
        f"| database | request | web processes | projects | {' | '.join(PARTS)} | all | web memory MB | |",
        f"| {' | '.join(['---'] * (len(PARTS) + 7))} |",
    ]
    for one in results["costs"]:
        cells = [f"{one['cpu'][part]:.2f}" if part in one["cpu"] else "" for part in PARTS]
        failed = f"{one['failures']} failed" if one["failures"] else ""
        memory = f"{one['memory'] / 1e6:,.0f}" if one["memory"] else ""
        lines.append(
            f"| {one['database']} | {one['kind']} | {one['processes'] or ''} | {one['projects']:,} "
            f"| {' | '.join(cells)} | {sum(one['cpu'].values()):.2f} | {memory} | {failed} |"
        )
    return "\n".join([*lines, "", *_describe_cores(results["costs"])])


def _describe_cores(costs: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Cores of each part for a billion views and a million questions a month, from the rows of PostgreSQL."""
    cpu: dict[str, Mapping[str, float]] = {}
    for one in costs:
        if one["database"] == "PostgreSQL" and one["processes"] <= 1 and one["projects"] != 1:
            cpu.setdefault(one["kind"], one["cpu"])
    few, many = (cpu.get(f"count {views} views of a project", {}) for views in (3, 500))
    if not {"view", "search", "ask with a model"} <= cpu.keys() or not many:
        yield "The run has too few figures to compute from."
        return
    rates = {kind: amount / _MONTH for kind, amount in MONTHLY.items()}
    rounds = MONTHLY_PROJECTS / ROUND_SECONDS  # projects that are counted in a second
    yield (
        f"From it, on paper, for {MONTHLY['view']:,.0f} views, {MONTHLY['search']:,.0f} searches and "
        f"{MONTHLY['ask with a model']:,.0f} questions a month of {MONTHLY_PROJECTS:,} projects; the peak is three "
        "times the mean, and a core is 60 % busy then. Each view comes alone; in batches it costs the row “batch”."
    )
    yield ""
    yield "| part | cores, mean | cores for the peak |"
    yield "| --- | --- | --- |"
    for part in PARTS:
        mean = sum(rate * cpu[kind].get(part, 0) for kind, rate in rates.items())
        mean += rates["view"] * many.get(part, 0) + rounds * 3 * few.get(part, 0)
        yield f"| {part} | {mean / 1000:.2f} | {mean / 1000 * ASSUMPTIONS['peak'] / ASSUMPTIONS['busy']:.1f} |"


def _judge(step: Mapping[str, Any]) -> str:
    return f"void: other work took {step['others']:.0%}" if step["others"] > MAX_SHARE else ""


def describe_operation(results: Mapping[str, Any]) -> str:
    """Times of filling, sealing, reports, backup, migrations and the sweep."""
    lines = [
        "Every line is measured, in the same run. Space is what the database grew by; of a backup, its size. The sweep "
        "removes all raw views at once, as if they were old; a night's sweep removes those of one day.",
        "",
        "| database | task | amount | seconds | CPU service / database s | space MB | |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    notes = []
    for name, database in results["databases"].items():
        for task, step in database["steps"].items():
            if task in ("export", "admin pages"):
                continue
            amount = next((f"{step[key]:,}" for key in ("views", "sections", "conversations") if key in step), "")
            space = step.get("bytes", step["growth"]) / 1e6
            lines.append(
                f"| {name} | {task} | {amount} | {step['seconds']:,.1f} "
                f"| {step.get('cpu', 0):,.1f} / {step['database_cpu']:,.1f} | {space:+,.0f} | {_judge(step)} |"
            )
        if export := database["steps"].get("export"):
            notes.append(f"- {name}: the first rows of an export of visitors take {export['ms']:.0f} ms over HTTP.")
        if pages := database["steps"].get("admin pages", {}).get("pages"):
            times = sorted(pages.values())
            notes.append(
                f"- {name}: {len(pages)} admin pages take {times[len(times) // 2]:.0f} ms at the median, "
                f"the slowest {times[-1]:,.0f} ms."
            )
        notes += [f"- {name}: {' '.join(note.split())}" for note in database["notes"]]
    return "\n".join([*lines, "", *notes])


def describe_computed(results: Mapping[str, Any], assumed: Mapping[str, float]) -> str:
    """Cores, storage and cost for larger numbers."""
    name, database = next(reversed(results["databases"].items()))
    lines = [
        f"Every line is computed, from the figures of {name} on one process (views of one project, searches and "
        "questions of the middle number of projects) and from these assumptions. Change one with "
        "`python -m tests.bench.capacity --from FILE --assume NAME=VALUE`. Prices have no currency; write yours.",
        "",
        "| assumption | value | |",
        "| --- | --- | --- |",
        *(f"| `{key}` | {value:,.10g} | {_WORDS[key]} |" for key, value in assumed.items()),
        "",
    ]
    try:
        rows = [f"| {what} | {value} |" for what, value in _compute(database, assumed)]
    except (KeyError, ZeroDivisionError):
        return "\n".join([*lines, "The run has too few figures to compute from."])
    return "\n".join([*lines, "| computed | value |", "| --- | --- |", *rows])


def _compute(database: Mapping[str, Any], assumed: Mapping[str, float]) -> Iterator[tuple[str, str]]:
    cpu, steps, views = _find_cpu(database), database["steps"], assumed["views"]
    amounts = {"view": views, "search": views * assumed["searches"], "ask": views * assumed["questions"]}
    load = assumed["peak"] / assumed["busy"] / _MONTH
    for kind, amount in amounts.items():
        yield f"{_NAMES[kind]}: a second at the peak", f"{amount / _MONTH * assumed['peak']:,.0f}"
    web, server = (sum(amounts[kind] * cpu[kind][part] / 1000 for kind in amounts) * load for part in (0, 1))
    recorded = steps["views"]["views"]
    seal = views * load * (steps["seal"]["cpu"] + steps["seal"]["database_cpu"]) / recorded
    yield "cores for web processes", f"{web:,.1f}"
    yield "cores of PostgreSQL", f"{server:,.1f}"
    yield "cores for sealing views, in workers and PostgreSQL", f"{seal:,.1f}"
    pattern = steps["conversations"]
    storage = {
        "raw views": steps["views"]["growth"] / recorded * views * assumed["raw_days"] / 30,
        "counts and visit histories of a year, at most": steps["seal"]["growth"] / recorded * views * 12,
        "conversations of a year": pattern["growth"] / pattern["conversations"] * amounts["ask"] * 12,
    }
    for what, size in storage.items():
        yield f"storage of {what}, GB", f"{size / 1e9:,.0f}"
    machines = (web + server + seal) * assumed["core_price"]
    machines += sum(storage.values()) / 1e9 * _COPIES * assumed["gigabyte_price"]
    model = amounts["ask"] * assumed["tokens"] * assumed["token_price"] / 1e6
    yield "cost of machines and storage a month", f"{machines:,.0f}"
    yield "cost of the model a month", f"{model:,.0f}"
    yield "both, by question, with all searches and views", f"{(machines + model) / amounts['ask']:.4f}"
    for price in _PRICES:
        yield f"the same questions at {price:g} each", f"{price * amounts['ask']:,.0f}"


def _find_cpu(database: Mapping[str, Any]) -> dict[str, tuple[float, float]]:
    """Milliseconds in web and database for each kind, on the fewest processes.

    Views are those of one project, because elsewhere most were the first of their page, which is rare in a long run.
    Searches and questions are those of the middle number of projects.
    """
    loads = [load for load in database["loads"] if load["requests"]]
    numbers = sorted({load["projects"] for load in loads})
    found = {}
    for load in sorted(loads, key=lambda one: -one["processes"]):
        if load["projects"] == (numbers[0] if load["kind"] == "view" else numbers[len(numbers) // 2]):
            found[load["kind"]] = load["web_cpu"], load["database_cpu"]
    return found
