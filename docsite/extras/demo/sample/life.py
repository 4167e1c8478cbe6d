"""Create the sample of a project: conversations, searches and feedback."""

import asyncio
import random
import tomllib
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from django.db import transaction
from django.utils import timezone

from analytics.models import Feedback
from assistant.answering import pipeline
from assistant.answering.passage_search import PassageSearch
from assistant.answering.question import Asker, Question, Turn
from assistant.answering.record import Outcome
from assistant.conversations.threads import UnstoredConversation, build_messages, make_title
from assistant.models import Message, Thread
from docsite.core.tenants.models import Project
from search.hits import Hit
from search.models import Document, SearchQuery
from search.query_log.folding import fold_for_storage
from search.retrieval import page_search

TOPICS: dict[str, Any] = tomllib.loads(Path(__file__).with_name("topics.toml").read_text())
DAYS = 90
CONVERSATIONS, SEARCHES, FEEDBACK = 120, 400, 70
FOLLOW_UPS = 0.3  # the share of conversations with a second question
RATED = 0.35  # the share of answers with a thumb
_CALLERS = (Message.Caller.WEB, Message.Caller.API, Message.Caller.OTHER)
_CALLER_WEIGHTS = (82, 12, 6)


class Asked(NamedTuple):
    """A question with its answer."""

    question: Question
    outcome: Outcome


class Sample(NamedTuple):
    """How many rows were created."""

    conversations: int
    searches: int
    feedback: int


def create_sample(project: Project) -> Sample:
    """Create the sample of a project whose pages are ingested. It ends now."""
    rng = random.Random(41)
    now = timezone.now()
    paths = set(Document.indexed.filter(project=project).values_list("path", flat=True))
    threads = _plan_conversations(rng, paths)
    conversations = asyncio.run(_answer_all(project, threads))
    searches = _build_searches(rng, project, now)
    with transaction.atomic():
        answers = _store_conversations(rng, project, conversations, now)
        feedback = [*_rate_answers(rng, project, answers), *_build_feedback(rng, project, paths, now)]
        Feedback.objects.bulk_create(feedback)
        SearchQuery.objects.bulk_create(searches)
    return Sample(len(conversations), len(searches), len(feedback))


def pick_times(rng: random.Random, now: datetime, count: int) -> list[datetime]:
    """Moments of the last months in order: more of late, fewer at weekends, most of them by day."""
    times: list[datetime] = []
    while len(times) < count:
        day = now - timedelta(days=DAYS * (1 - rng.random() ** 0.7))
        at = day.replace(
            hour=int(min(23, max(0, rng.gauss(14, 4)))), minute=rng.randrange(60), second=rng.randrange(60)
        )
        if at <= now and (at.weekday() < 5 or rng.random() < 0.4):
            times.append(at)
    return sorted(times)


def _plan_conversations(rng: random.Random, paths: set[str]) -> list[list[Question]]:
    """The questions of each conversation."""
    planned = []
    for number in range(CONVERSATIONS):
        (topic,) = rng.choices(TOPICS["topics"], [topic["weight"] for topic in TOPICS["topics"]])
        (caller,) = rng.choices(_CALLERS, _CALLER_WEIGHTS)
        texts = [rng.choice(topic["wordings"])]
        follow_ups = topic.get("follow_ups")
        if follow_ups and rng.random() < FOLLOW_UPS:
            texts += rng.sample(follow_ups, rng.choice((1, 1, min(2, len(follow_ups)))))
        is_known = caller == Message.Caller.WEB and topic["page"] in paths and rng.random() < 0.7
        page = topic["page"] if is_known else ""
        fp = f"sample-{int(number * rng.random() ** 0.2)}"  # some come again
        planned.append([Question(text, Asker(fp=fp), caller, current_path=page) for text in texts])
    return planned


async def _answer_all(project: Project, planned: list[list[Question]]) -> list[list[Asked]]:
    """Answer the questions from the project's pages, without a model. Equal conversations have equal answers."""
    outcomes: dict[tuple[str, ...], Outcome] = {}
    conversations = []
    for questions in planned:
        history: list[Turn] = []
        asked = []
        for question in questions:
            key = (question.current_path, *(turn.text for turn in history), question.text)
            if key not in outcomes:
                conversation = UnstoredConversation(project, history=tuple(history))
                outcomes[key] = await pipeline.answer_unread(question, conversation, PassageSearch(project))
            asked.append(Asked(question, outcomes[key]))
            history += [Turn("user", question.text), Turn("assistant", outcomes[key].text)]
        conversations.append(asked)
    return conversations


def _store_conversations(
    rng: random.Random, project: Project, conversations: list[list[Asked]], now: datetime
) -> list[Message]:
    """Store the conversations. Returns the answers."""
    times = pick_times(rng, now, len(conversations))
    threads = [
        Thread(project=project, fp=asked[0].question.asker.fp, title=make_title(asked[0].question.text), sample=True)
        for asked in conversations
    ]
    Thread.objects.bulk_create(threads)
    messages: list[Message] = []
    created: list[datetime] = []
    for thread, asked, at in zip(threads, conversations, times, strict=True):
        for number, (question, outcome) in enumerate(asked):
            messages += build_messages(thread, question, outcome)
            created += [at + timedelta(seconds=number * rng.randint(40, 180))] * 2
    Message.objects.bulk_create(messages)
    for message, at in zip(messages, created, strict=True):  # the fields are set to now when a row is created
        message.created_at = message.updated_at = at
    for thread, at in zip(threads, times, strict=True):
        thread.created_at = at
    Message.objects.bulk_update(messages, ["created_at", "updated_at"], batch_size=200)
    Thread.objects.bulk_update(threads, ["created_at"], batch_size=200)
    return [message for message in messages if message.role == Message.Role.ASSISTANT]


def _rate_answers(rng: random.Random, project: Project, answers: list[Message]) -> list[Feedback]:
    """Thumbs of readers: up for most answers, down for most refusals."""
    rated = []
    for answer in answers:
        if answer.caller != Message.Caller.WEB or rng.random() > RATED:
            continue
        helpful = rng.random() < (0.82 if answer.outcome == Message.Outcome.ANSWERED else 0.2)
        rated.append(
            _feedback(
                rng,
                project,
                answer.created_at + timedelta(seconds=rng.randint(10, 90)),
                Feedback.Source.THUMBS_ONLY,
                answer.page_path or "/",
                helpful=helpful,
                message=answer,
                reason="" if helpful or rng.random() < 0.5 else rng.choice(TOPICS["reasons_of_answers"]),
                comment=rng.choice(TOPICS["praise_of_answers" if helpful else "complaints_about_answers"]),
            )
        )
    return rated


def _build_feedback(rng: random.Random, project: Project, paths: set[str], now: datetime) -> list[Feedback]:
    """Feedback on pages and on code, and of agents."""
    built = []
    for at in pick_times(rng, now, FEEDBACK):
        kind = rng.random()
        if kind < 0.8:
            page, helpful, reason, comment = rng.choice(TOPICS["page_feedback"])
            details = {"helpful": helpful, "reason": reason, "comment": comment}
            source = Feedback.Source.CONTEXTUAL
        elif kind < 0.94:
            page, helpful, comment, code, lang = rng.choice(TOPICS["code_feedback"])
            details = {"helpful": helpful, "comment": comment, "code": code, "lang": lang}
            source = Feedback.Source.CODE_SNIPPET
        else:
            page, helpful, comment = rng.choice(TOPICS["agent_feedback"])
            details, source = {"helpful": helpful, "comment": comment}, Feedback.Source.AGENT
        if page in paths:
            built.append(_feedback(rng, project, at, source, page, **details))
    return built


def _feedback(
    rng: random.Random, project: Project, at: datetime, source: Feedback.Source, path: str, **details: object
) -> Feedback:
    """Feedback in the state that an owner would have brought it to by now: what is old or friendly is done."""
    states = Feedback.Status
    age = timezone.now() - at
    wants_work = details.get("helpful") is False and bool(details.get("comment") or details.get("reason"))
    if not wants_work:
        status = states.RESOLVED if age > timedelta(days=14) else states.PENDING
    elif age > timedelta(days=30):
        status = rng.choice((states.RESOLVED, states.RESOLVED, states.DISMISSED, states.PENDING))
    else:
        status = rng.choice((states.PENDING, states.PENDING, states.IN_PROGRESS))
    return Feedback(project=project, source=source, path=path, created_at=at, status=status, sample=True, **details)


def _build_searches(rng: random.Random, project: Project, now: datetime) -> list[SearchQuery]:
    """Searches with the results that the search really finds. Readers open one of the first results, or none."""
    found: dict[str, list[Hit]] = {}
    built = []
    queries, weights = list(TOPICS["queries"]), list(TOPICS["queries"].values())
    for at in pick_times(rng, now, SEARCHES):
        (text,) = rng.choices(queries, weights)
        if text not in found:
            found[text] = page_search.find(project, text)
        hits = found[text]
        search = SearchQuery(
            project=project,
            at=at,
            text=text if rng.random() < 0.85 else text.capitalize(),
            folded=fold_for_storage(text),
            result_count=len(hits),
            first_score=hits[0].score if hits else None,
            filter_version="",
            filter_language="",
            caller_kind=SearchQuery.CallerKind.WEB if rng.random() < 0.92 else SearchQuery.CallerKind.API,
            sample=True,
        )
        position = int(rng.expovariate(0.9))
        if position < len(hits) and rng.random() < 0.35 + 0.4 * hits[0].score:
            search.position, search.clicked_path = position + 1, hits[position].path
            search.clicked_at = at + timedelta(seconds=rng.randint(2, 25))
        built.append(search)
    return built
