"""The tables of the page "At scale": measured on one machine, and computed from there."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.bench.others import MAX_SHARE

MEASURED, OPERATED = "## What was measured", "## What an operator's tasks take"
COSTS = "## What a request costs each part"
COMPUTED = "## What 10,000 sites and a billion views a month take"
STORED = "## What they store"
ASSUMPTIONS = {
    "views": 1e9,
    "searches": 3e7,
    "questions": 1e6,
    "projects": 1e4,
    "peak": 3.0,
    "busy": 0.6,
    "raw_days": 30.0,
    "core_price": 20.0,
    "tokens": 3_000.0,
    "token_price": 0.5,
}
_WORDS = {
    "views": "views a month, of all sites together",
    "searches": "searches a month",
    "questions": "questions a month, all answered by a model",
    "projects": "projects, each with views in every round of counting",
    "peak": "times the mean rate at the peak",
    "busy": "of a core may be busy at the peak",
    "raw_days": "days for which raw views are stored",
    "core_price": "dollars for a core with its memory and disk for a month",
    "tokens": "tokens that a model reads and writes for a question",
    "token_price": "dollars for a million tokens; 0 for a model of your own, whose machines are not counted here",
}
_MONTH = 30 * 86_400.0  # seconds
ROUND_SECONDS = 300.0  # of `analytics.counting.background`, where there are thousands of projects
_KINDS = {"view": "views", "search": "searches", "ask with a model": "questions"}
PARTS = ("web", "worker", "PostgreSQL", "Redis", "NATS")
PICTURED = "views, searches and questions on one web process"
_NAMES = {"ask": "question, no model", "ask with a model": "question, model"}
# Dollars for one request by public price lists, without discounts for volume, and where they stand.
_HOSTED = (
    ("questions", "an assistant billed by message", 10_000 / 1_150_000, 0.01, "Mintlify’s credits"),
    ("questions", "an assistant billed by resolved conversation", 0.99, 0.99, "Intercom’s Fin"),
    ("searches", "hosted search", 0.5 / 1000, 1.75 / 1000, "Algolia’s Grow and Grow Plus"),
)


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
                f"| {name} | {one['processes']} | {_NAMES.get(one['kind'], one['kind'])} "
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
        f"`make capacity COSTS=1` measures this table in some twenty minutes: on {results['machine']}. The databases "
        f"held {results['views']:,} views and 10,000 projects, of which 100 have pages. Eight clients waited for each "
        "answer, on the same cores; one pushed. CPU is milliseconds of each part for one request, of a batch of 100 "
        "views for one view, with what the worker does afterwards, and of a push with the process that reads it; the "
        "median of three rounds. Of 10,000 projects, most views are the first one of their project in the process. "
        "PostgreSQL stands for the profile: web processes without background work, a worker, PostgreSQL, Redis and a "
        "view log in NATS.",
        "",
        f"| database | request | web processes | projects | {' | '.join(PARTS)} | all | web memory MB | |",
        f"| {' | '.join(['---'] * (len(PARTS) + 7))} |",
    ]
    for one in results["costs"]:
        cells = [f"{one['cpu'][part]:.2f}" if part in one["cpu"] else "" for part in PARTS]
        failed = f"{one['failures']} failed" if one["failures"] else ""
        memory = f"{one['memory'] / 1e6:,.0f}" if one["memory"] else ""
        lines.append(
            f"| {one['database']} | {_NAMES.get(one['kind'], one['kind'])} | {one['processes'] or ''} "
            f"| {one['projects']:,} | {' | '.join(cells)} | {sum(one['cpu'].values()):.2f} | {memory} | {failed} |"
        )
    lines += ["", f"![The table’s rows of {PICTURED}, as bars](/static/site/img/costs.svg)"]
    return "\n".join(lines)


def describe_computed(costs: Sequence[Mapping[str, Any]], assumed: Mapping[str, float]) -> str:
    """Cores and dollars for larger numbers, from the costs of PostgreSQL; what hosted services ask beside them."""
    lines = [
        "Every line is computed, from the table of [processor time](#what-a-request-costs-each-part) and from these "
        "assumptions. Each view comes alone; in batches it costs the row “batch”. A project is counted every five "
        "minutes. Change an assumption with "
        "`python -m tests.bench.capacity --costs --from FILE --assume NAME=VALUE`.",
        "",
        "| assumption | value | |",
        "| --- | --- | --- |",
        *(f"| `{key}` | {value:,.10g} | {_WORDS[key]} |" for key, value in assumed.items() if key != "raw_days"),
        "",
    ]
    cpu = _read_cpu(costs, "PostgreSQL")
    few, many = (cpu.get(f"count {views} views of a project", {}) for views in (3, 500))
    if not _KINDS.keys() <= cpu.keys() or not many:
        return "\n".join([*lines, "The run has too few figures to compute from."])
    rates = {kind: assumed[name] / _MONTH for kind, name in _KINDS.items()}
    rounds = assumed["projects"] / ROUND_SECONDS  # projects that are counted in a second
    lines += ["| part | cores, mean | cores for the peak |", "| --- | --- | --- |"]
    peaks: dict[str, float] = {}
    for part in PARTS:
        counting = 3 * few.get(part, 0)  # of a project, which in the run was for each view, since few had a second one
        mean = sum(rate * cpu[kind].get(part, 0) for kind, rate in rates.items())
        mean += rates["view"] * (many.get(part, 0) - min(counting, cpu["view"].get(part, 0))) + rounds * counting
        peaks[part] = mean / 1000 * assumed["peak"] / assumed["busy"]
        lines.append(f"| {part} | {mean / 1000:.2f} | {peaks[part]:.1f} |")
    total = sum(peaks.values())
    lines += [f"| all | | {total:.1f} |", "", f"The first part to be full: {max(peaks, key=peaks.__getitem__)}.", ""]
    if most := _compute_most_views(_read_cpu(costs, "SQLite"), assumed):
        lines += [
            f"**Until when SQLite?** One process with SQLite takes less processor time for each request than all parts "
            f"together. With one core, the same mix and the same peak it carries {most / 1e6:,.0f} million views a "
            "month. Beyond that, or when a second machine must take over, use the profile.",
            "",
        ]
    return "\n".join([*lines, *_describe_prices(total, assumed)])


def _read_cpu(costs: Sequence[Mapping[str, Any]], database: str) -> dict[str, Mapping[str, float]]:
    """Milliseconds of each part by kind of request, on one process and several projects."""
    cpu: dict[str, Mapping[str, float]] = {}
    for one in costs:
        if one["database"] == database and one["processes"] <= 1 and one["projects"] != 1:
            cpu.setdefault(one["kind"], one["cpu"])
    return cpu


def _compute_most_views(cpu: Mapping[str, Mapping[str, float]], assumed: Mapping[str, float]) -> float:
    """Views a month that one core carries with their share of searches and questions; 0 if the run has too little."""
    if not _KINDS.keys() <= cpu.keys():
        return 0.0
    spent = sum(assumed[name] / assumed["views"] * sum(cpu[kind].values()) for kind, name in _KINDS.items())
    return _MONTH * 1000 * assumed["busy"] / assumed["peak"] / spent


def _describe_prices(cores: float, assumed: Mapping[str, float]) -> Iterator[str]:
    """Our dollars a month, then those of others for the same requests."""
    model = assumed["questions"] * assumed["tokens"] * assumed["token_price"] / 1e6
    yield (
        "Hosted prices are those of public lists in autumn 2026, without discounts for volume; ask the company. They "
        "contain work and machines that you would have to add here."
    )
    yield ""
    yield "| a month | dollars |"
    yield "| --- | --- |"
    yield f"| cores of this service, for views, searches and questions | {cores * assumed['core_price']:,.0f} |"
    yield f"| a model behind an API, for the questions | {model:,.0f} |"
    for name, what, least, most, source in _HOSTED:
        low, high = (f"{price * assumed[name]:,.0f}" for price in (least, most))
        yield f"| {what} ({source}), for the {name} | {low if low == high else f'{low} to {high}'} |"


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


def describe_stored(results: Mapping[str, Any], assumed: Mapping[str, float]) -> str:
    """Gigabytes for larger numbers, from what the database grew by."""
    name, database = next(reversed(results["databases"].items()))
    steps = database["steps"]
    lines = [
        f"Computed from what {name} grew by in the table above, with the assumptions before, and raw views for "
        f"`raw_days` = {assumed['raw_days']:.0f} days. A second copy for a standby, and backups, come to it.",
        "",
        "| stored | GB |",
        "| --- | --- |",
    ]
    try:
        recorded, pattern = steps["views"]["views"], steps["conversations"]
        monthly = assumed["views"] / recorded  # times the run
        storage = {
            "raw views": steps["views"]["growth"] * monthly * assumed["raw_days"] / 30,
            "counts and visit histories of a year, at most": steps["seal"]["growth"] * monthly * 12,
            "conversations of a year": pattern["growth"] / pattern["conversations"] * assumed["questions"] * 12,
        }
    except (KeyError, ZeroDivisionError):
        return "\n".join([*lines[:1], "", "The run has too few figures to compute from."])
    return "\n".join([*lines, *(f"| {what} | {size / 1e9:,.0f} |" for what, size in storage.items())])
