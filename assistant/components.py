"""What of the assistant runs beside the requests."""

from collections.abc import Iterable

from assistant.asking import erasure
from assistant.asking.start import drain
from assistant.conversations import chat_ids, retention, threads
from assistant.improving.gaps import background as gaps
from assistant.improving.question_groups import grouping
from assistant.running_answers import model_rests
from assistant.running_answers.capacity import answer_slots
from assistant.spending import answer_budget
from assistant.support_requests import store as support_requests
from assistant.upstream import UpstreamError, model_status
from assistant.upstream.breaker import count_failing
from docsite.core.components import Component, Finding
from docsite.core.components.metrics import Metric, gauge


def measure_answers() -> Iterable[Metric]:
    """The answers of this process, and its models."""
    yield gauge("docs_running_answers", "Answers that run in this process.", answer_slots.count_all())
    yield gauge("docs_models_failing", "Models whose last request failed.", count_failing())


def check_model() -> Finding:
    """Whether the model answers a short request."""
    try:
        seconds = model_status.measure()
    except UpstreamError as failure:
        advice = f"{failure.advice} Then run: manage.py checkmodel".strip()
        return Finding("Model", f"{model_status.describe().removeprefix('by ')}: {failure.reason}", advice)
    if seconds is None:
        return Finding("Model", f"answers are {model_status.describe()}")
    return Finding("Model", f"{model_status.describe().removeprefix('by ')} answered in {seconds:.1f} s")


COMPONENTS = (
    Component(
        name="answers",
        recover=threads.mark_orphans,
        start=model_rests.share_rests_in_redis,
        drain=drain,
        flush=threads.flush,
        sweep=retention.sweep,
        erase=erasure.erase,
        count=erasure.count,
        find_reader=erasure.find_reader,
        metrics=measure_answers,
        doctor=(check_model,),
    ),
    Component(name="chat ids", sweep=chat_ids.sweep),
    Component(name="reservations of tokens", sweep=answer_budget.sweep),
    Component(name="question groups", threads=(gaps.thread,), sweep=grouping.sweep),
    Component(name="support requests", sweep=support_requests.sweep),
)
