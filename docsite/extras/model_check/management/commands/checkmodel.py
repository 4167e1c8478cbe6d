"""`manage.py checkmodel`: ask the configured models a question, and say what works and what to change."""

import asyncio
import math
import re
from collections.abc import Iterator, Sequence
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from assistant.answering import prompts, tools
from assistant.answering.question import Question
from assistant.models import AssistantSettings
from assistant.upstream import Model, UpstreamError, Usage, errors, formats, model_choice
from assistant.upstream.check import Trial, try_out
from assistant.upstream.relay import Bounds
from docsite.core.tenants.management.base import ServiceCommand, find_project
from search.hits import Hit

# An invented product, so that no model knows the answer. One fact is at the beginning of a full prompt, one at its end.
FACTS = {"7431": "The Quillwort daemon listens on port 7431.", "grebe": "It writes to the log file `grebe.log`."}
ROWS = 25
QUESTION = Question("Which port does the Quillwort daemon listen on, and what is its log file called?")
TOOL_MESSAGES = [
    {"role": "system", "content": "You know nothing about the product. Call the tool `search` before you answer."},
    {"role": "user", "content": QUESTION.text},
]
MAX_ROUNDS = 2  # of calls beside passages that have the answer
MIN_COUNT = 0.5  # share of the estimated tokens: a server that counts fewer has cut the question

GOOD, BAD, NOTE = "✓", "✗", "–"
Finding = tuple[str, str]  # one of these marks, and a sentence


class Command(ServiceCommand):
    """Tries out the model server, and the second one if there is one."""

    help = (
        "Ask the configured models a question with passages, as readers do, and try a tool call. Prints what works, "
        "how fast, and what to change. The exit status is 1 if a model cannot answer."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the project."""
        parser.add_argument(
            "domain", nargs="?", help="domain of a project, whose own model and temperature are used; default: none"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Check each model. Raises CommandError when one cannot answer."""
        domain = options["domain"]
        owner_settings = AssistantSettings.for_project(find_project(domain)) if domain else AssistantSettings()
        models = model_choice.list_models(owner_settings)
        if not models:
            raise CommandError("No model server is set: answers are quoted. To use one, set OPENAI_BASE_URL.")
        tokens = settings.ENV.openai_passage_tokens
        failing = asyncio.run(self.check_models(models, model_choice.build_bounds(), tokens))
        if failing:
            raise CommandError(f"{failing} of {len(models)} models cannot answer as they should.")
        self.stdout.write(f"Ask readers' questions: manage.py golden {domain or 'DOMAIN'} --evaluate")

    async def check_models(self, models: Sequence[Model], bounds: Bounds, passage_tokens: int) -> int:
        """Check the models and print the findings. Returns how many have a problem."""
        failing = 0
        try:
            for model in models:
                self.stdout.write(f"{model.name} at {model.address}")
                findings = [*await _check_answer(model, bounds, passage_tokens), await _check_tools(model, bounds)]
                for mark, sentence in findings:
                    self.stdout.write(f"  {mark} {sentence}")
                failing += any(mark == BAD for mark, _ in findings)
        finally:
            await formats.close()
        return failing


async def _check_answer(model: Model, bounds: Bounds, passage_tokens: int) -> list[Finding]:
    messages = prompts.build(QUESTION, _build_passages(passage_tokens), (), passage_tokens)
    estimate = prompts.estimate_request_tokens(messages)
    try:
        trial, rounds = await _ask(model, messages, bounds)
        is_cut = _is_cut(trial, estimate)
        found_in_less = False
        if is_cut and passage_tokens > prompts.SMALL_BUDGET:
            less = prompts.build(QUESTION, _build_passages(prompts.SMALL_BUDGET), (), prompts.SMALL_BUDGET)
            second, _ = await _ask(model, less, bounds)
            found_in_less = all(fact in second.text for fact in FACTS)
    except UpstreamError as failure:
        return [(BAD, f"No answer: {failure.reason}. {failure.advice}"), *_quote(model, failure)]
    return [
        *_judge_text(trial, is_cut),
        *_judge_context(is_cut, found_in_less, estimate),
        *_judge_calls(rounds),
        *_judge_speed(trial, bounds),
        *_judge_usage(trial.usage),
    ]


async def _ask(model: Model, messages: list[dict[str, Any]], bounds: Bounds) -> tuple[Trial, int]:
    """Ask as the service does: with tools, and at last without. Returns the answer, and the rounds of calls before."""
    asked = messages
    for rounds in range(MAX_ROUNDS):
        trial = await try_out(model, asked, bounds, tools.TOOLS)
        if not trial.calls:
            return trial, rounds
        results = [
            {"role": "tool", "tool_call_id": call.id, "content": tools.NOTHING_NEW} for call in trial.calls.calls
        ]
        asked = [*asked, trial.calls.message, *results]
    return await try_out(model, messages, bounds), MAX_ROUNDS


def _is_cut(trial: Trial, estimate: int) -> bool:
    """Whether the server has left out a part of the prompt."""
    found = sum(fact in trial.text for fact in FACTS)
    usage = trial.usage
    return 0 < found < len(FACTS) or bool(usage and 0 < usage.prompt_tokens < MIN_COUNT * estimate)


async def _check_tools(model: Model, bounds: Bounds) -> Finding:
    """Whether the model calls a tool. The service needs none, so this is never a problem."""
    try:
        trial = await try_out(model, TOOL_MESSAGES, bounds, tools.TOOLS)
    except UpstreamError as failure:
        return NOTE, f"No tool call: {failure.reason}."
    if "tools" in formats.FORMATS[model.format].refused_parameters(model):
        return NOTE, "Its server refuses tools, so it cannot search for itself."
    return (GOOD, "It calls tools.") if trial.calls else (NOTE, "It answers without calling the tool that it may use.")


def _judge_text(trial: Trial, is_cut: bool) -> Iterator[Finding]:
    text = " ".join(trial.text.split())
    shown = f"“{text[:200]}{'…' if len(text) > 200 else ''}”"
    if not text:
        yield BAD, f"It wrote nothing. {errors.EMPTY if trial.first_sign is None else errors.ONLY_THOUGHTS}"
    elif not all(fact in text for fact in FACTS):
        advice = "" if is_cut else " Use another model (OPENAI_MODEL)."
        yield BAD, f"It did not find the answer in its passages: {shown}.{advice}"
    elif not re.search(r"\[\d+\]", text):
        advice = "Use another model (OPENAI_MODEL)."
        yield BAD, f"It does not cite its passages, so readers would see no source: {shown}. {advice}"
    else:
        yield GOOD, f"It answers and cites: {shown}"
    if trial.end_reason == "length" and text:
        yield BAD, "It stopped at OPENAI_MAX_TOKENS. Raise it."


def _judge_context(is_cut: bool, found_in_less: bool, estimate: int) -> Iterator[Finding]:
    if not is_cut:
        return
    less = f", or set OPENAI_PASSAGE_TOKENS={prompts.SMALL_BUDGET}: with these it finds all" if found_in_less else ""
    yield (
        BAD,
        (
            f"Its context is too short: the question has about {estimate:,} tokens, and the server has cut it. Give "
            f"the model a larger context window, in Ollama with OLLAMA_CONTEXT_LENGTH=16384{less}."
        ),
    )


def _judge_calls(rounds: int) -> Iterator[Finding]:
    if rounds == MAX_ROUNDS:
        yield (
            NOTE,
            (
                "It calls tools again and again though its passages have the answer. The service then asks it without "
                "tools, so a question costs up to four requests. Another model (OPENAI_MODEL) is faster."
            ),
        )


def _judge_speed(trial: Trial, bounds: Bounds) -> Iterator[Finding]:
    if trial.first_sign is None:
        return
    if trial.first_text is not None:
        thoughts = f", after {trial.first_text - trial.first_sign:.1f} s of thoughts" if _has_thoughts(trial) else ""
        yield (
            GOOD,
            (
                f"First word after {trial.first_text:.1f} s{thoughts}, last after {trial.seconds:.1f} s; "
                f"{trial.tokens_per_second:.0f} tokens a second."
            ),
        )
    for setting, limit, seconds in (
        ("OPENAI_FIRST_TOKEN_SECONDS", bounds.first_token, trial.first_sign),
        ("OPENAI_BETWEEN_TOKENS_SECONDS", bounds.between_tokens, trial.longest_pause),
    ):
        if seconds > limit:
            yield BAD, f"It is silent for {seconds:.0f} s. Raise {setting} from {limit:g} to {math.ceil(seconds * 2)}."
    if trial.pieces == 1:
        yield NOTE, "The answer came in one piece. The server does not stream, or a proxy before it buffers."


def _has_thoughts(trial: Trial) -> bool:
    return trial.first_text != trial.first_sign


def _judge_usage(usage: Usage | None) -> Iterator[Finding]:
    if usage is None or not usage.prompt_tokens:
        yield NOTE, "It does not count tokens, so the service estimates them."
        return
    thoughts = f", {usage.reasoning_tokens:,} of them thoughts" if usage.reasoning_tokens else ""
    yield GOOD, f"It counts {usage.prompt_tokens:,} tokens read and {usage.completion_tokens:,} written{thoughts}."


def _quote(model: Model, failure: UpstreamError) -> Iterator[Finding]:
    """The words of the server, without the key."""
    message = failure.message.replace(model.api_key, "…") if model.api_key else failure.message
    if message.strip():
        yield NOTE, f"The server says: {message}"


def _build_passages(tokens: int) -> list[Hit]:
    """Build as many passages as a prompt can hold. The first and the last one each contain a fact to ask for."""
    full = [_build_passage(number) for number in range(tokens // prompts.MIN_PASSAGE)]
    count = len(prompts.choose_passages(enumerate(full, 1), tokens, QUESTION.text))
    first, last = FACTS.values()
    return [_build_passage(0, first), *full[1 : count - 1], _build_passage(count - 1, last)]


def _build_passage(number: int, fact: str = "") -> Hit:
    rows = [
        f"`quillwort.option_{number}_{row}` is {row * 7} by default and sets how many leaves line {row} has."
        for row in range(ROWS)
    ]
    if fact:
        rows[0] = fact
    body, title = "\n".join(rows), f"Options of Quillwort, part {number + 1}"
    return Hit(f"/options-{number}", f"https://quillwort.example/options-{number}", title, "", (title,), body, "", 1.0)
