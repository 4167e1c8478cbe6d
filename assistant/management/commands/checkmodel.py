"""`manage.py checkmodel`: ask the configured models a question, and say what works and what to change."""

import asyncio
import math
from collections.abc import Iterator, Sequence
from typing import Any

from django.core.management.base import CommandError, CommandParser

from assistant import model_chain
from assistant.answering import prompts, tools
from assistant.models import AssistantSettings
from assistant.question import Question
from assistant.upstream import Model, UpstreamError, Usage, errors, formats
from assistant.upstream.check import Trial, try_out
from assistant.upstream.relay import Bounds
from docsite.core.tenants.management.base import ServiceCommand, find_project
from search.hits import Hit

# An invented product, so that no model knows the answer. The passages are about as long as those of a real question.
FACT = "7431"
PASSAGES = 5
ROWS = 25
QUESTION = Question("Which port does the Quillwort daemon listen on?")
TOOL_MESSAGES = [
    {"role": "system", "content": "You know nothing about the product. Call the tool `search` before you answer."},
    {"role": "user", "content": QUESTION.text},
]
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
        models = model_chain.list_models(owner_settings)
        if not models:
            raise CommandError("No model server is set: answers are quoted. To use one, set OPENAI_BASE_URL.")
        failing = asyncio.run(self.check_models(models, model_chain.build_bounds()))
        if failing:
            raise CommandError(f"{failing} of {len(models)} models cannot answer as they should.")
        self.stdout.write(f"Ask readers' questions: manage.py golden {domain or 'DOMAIN'} --evaluate")

    async def check_models(self, models: Sequence[Model], bounds: Bounds) -> int:
        """Check the models and print the findings. Returns how many have a problem."""
        failing = 0
        try:
            for model in models:
                self.stdout.write(f"{model.name} at {model.address}")
                findings = [*await _check_answer(model, bounds), await _check_tools(model, bounds)]
                for mark, sentence in findings:
                    self.stdout.write(f"  {mark} {sentence}")
                failing += any(mark == BAD for mark, _ in findings)
        finally:
            await formats.close()
        return failing


async def _check_answer(model: Model, bounds: Bounds) -> list[Finding]:
    messages = prompts.build(QUESTION, [_build_passage(number) for number in range(PASSAGES)], ())
    try:
        trial = await try_out(model, messages, bounds)
    except UpstreamError as failure:
        return [(BAD, f"No answer: {failure.reason}. {failure.advice}"), *_quote(model, failure)]
    return [
        *_judge_text(trial),
        *_judge_speed(trial, bounds),
        *_judge_usage(trial.usage, prompts.estimate_request_tokens(messages)),
    ]


async def _check_tools(model: Model, bounds: Bounds) -> Finding:
    """Whether the model calls a tool. The service needs none, so this is never a problem."""
    try:
        trial = await try_out(model, TOOL_MESSAGES, bounds, tools.TOOLS)
    except UpstreamError as failure:
        return NOTE, f"No tool call: {failure.reason}."
    if "tools" in formats.FORMATS[model.format].refused_parameters(model):
        return NOTE, "Its server refuses tools, so it cannot search for itself."
    return (GOOD, "It calls tools.") if trial.tools else (NOTE, "It answers without calling the tool that it may use.")


def _judge_text(trial: Trial) -> Iterator[Finding]:
    text = " ".join(trial.text.split())
    shown = f"“{text[:200]}{'…' if len(text) > 200 else ''}”"
    if not text:
        yield BAD, f"It wrote nothing. {errors.EMPTY if trial.first_sign is None else errors.ONLY_THOUGHTS}"
    elif FACT not in text:
        yield BAD, f"It did not find the answer in its passages: {shown}. Use a larger context window or another model."
    elif "[1]" not in text:
        yield BAD, f"It does not cite its passage, so readers would see no source: {shown}. Use another model."
    else:
        yield GOOD, f"It answers and cites: {shown}"
    if trial.end_reason == "length" and text:
        yield BAD, "It stopped at OPENAI_MAX_TOKENS. Raise it."


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


def _judge_usage(usage: Usage | None, estimate: int) -> Iterator[Finding]:
    if usage is None or not usage.prompt_tokens:
        yield NOTE, "It does not count tokens, so the service estimates them."
        return
    thoughts = f", {usage.reasoning_tokens:,} of them thoughts" if usage.reasoning_tokens else ""
    yield GOOD, f"It counts {usage.prompt_tokens:,} tokens read and {usage.completion_tokens:,} written{thoughts}."
    if usage.prompt_tokens < MIN_COUNT * estimate:
        yield (
            BAD,
            (
                f"The question has about {estimate:,} tokens, so the server has cut it. Give the model a larger "
                "context window, in Ollama with OLLAMA_CONTEXT_LENGTH=16384."
            ),
        )


def _quote(model: Model, failure: UpstreamError) -> Iterator[Finding]:
    """The words of the server, without the key."""
    message = failure.message.replace(model.api_key, "…") if model.api_key else failure.message
    if message.strip():
        yield NOTE, f"The server says: {message}"


def _build_passage(number: int) -> Hit:
    rows = [
        f"`quillwort.option_{number}_{row}` is {row * 7} by default and sets how many leaves line {row} has."
        for row in range(ROWS)
    ]
    if number == 0:
        rows[0] = f"The Quillwort daemon listens on port {FACT}."
    body, title = "\n".join(rows), f"Options of Quillwort, part {number + 1}"
    return Hit(f"/options-{number}", f"https://quillwort.example/options-{number}", title, "", (title,), body, "", 1.0)
