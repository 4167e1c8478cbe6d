"""Asks golden questions as readers would ask them now, a few at a time, and scores the answers."""

import asyncio
import time
from collections.abc import Callable, Sequence

from django.conf import settings

from assistant.answering import pipeline
from assistant.answering.owner_settings import to_answer_settings
from assistant.answering.passage_search import PassageSearch
from assistant.answering.question import AnswerSettings, Question
from assistant.conversations.threads import UnstoredConversation
from assistant.improving.golden_questions import judge
from assistant.improving.golden_questions.checks import find_groups
from assistant.improving.golden_questions.scoring import Row, score
from assistant.models import AssistantSettings, GoldenQuestion
from assistant.spending.answer_budget import charge
from assistant.upstream import Model, formats, model_choice
from assistant.upstream.relay import ModelChain
from docsite.core.access.readers import Groups, read_as
from docsite.core.db import in_db
from docsite.core.tenants.models import Project

AT_ONCE = 4  # questions to a model server
PROMPT_TOKENS = 1_000  # about what a request has beside passages, with its answer
JUDGE_TOKENS = 3_000  # about what a judge reads and writes for an answer


class TokensUsedUp(RuntimeError):
    """The project's token limit of the day is reached, so no model may be asked until tomorrow."""


def estimate_tokens(count: int) -> int:
    """Estimate the tokens that a model needs for some questions, rather too many."""
    return count * (settings.ENV.openai_passage_tokens + PROMPT_TOKENS)


async def ask_all(
    project: Project,
    questions: Sequence[GoldenQuestion],
    *,
    use_model: bool,
    judge_model: Model | None,
    report: Callable[[Row], None],
) -> None:
    """Ask questions, let a model judge the answers, and report each row as soon as it is known.

    Raises `TokensUsedUp`. When it is cancelled, running answers are stopped without a row.
    """
    waiting = iter(questions)

    async def work() -> None:
        for question in waiting:
            report(await _ask(project, question, use_model, judge_model))

    workers = [asyncio.create_task(work()) for _ in range(AT_ONCE if use_model or judge_model else 1)]
    try:
        await asyncio.gather(*workers)
    finally:
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
        await formats.close()


async def _ask(project: Project, question: GoldenQuestion, use_model: bool, judge_model: Model | None) -> Row:
    answer_settings, chain, groups = await in_db(_load_settings)(project, question, use_model)
    asked = Question(question.text, settings=answer_settings)
    conversation, began = UnstoredConversation(project), time.monotonic()
    with read_as(groups):
        outcome = await pipeline.answer_unread(asked, conversation, PassageSearch(project), chain)
    seconds = time.monotonic() - began
    if conversation.budget.denial:
        raise TokensUsedUp(conversation.budget.denial)
    verdict = None
    if judge_model and outcome.state == "done" and outcome.sources:
        verdict = await judge.judge(judge_model, model_choice.build_bounds(), question, outcome)
        await in_db(charge)(project, verdict.charge)
    return score(question, project, outcome, seconds, verdict)


def _load_settings(
    project: Project, question: GoldenQuestion, use_model: bool
) -> tuple[AnswerSettings, ModelChain, Groups]:
    owner_settings, chain = AssistantSettings.for_project(project), ModelChain()
    if use_model:
        chain = model_choice.choose_models(project, owner_settings)
        if not chain.models:
            raise TokensUsedUp(chain.reason)
    return to_answer_settings(owner_settings), chain, find_groups(project, question.paths)
