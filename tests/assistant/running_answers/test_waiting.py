"""Events are pushed to a subscriber that waits. It misses none, gets none twice, and gets them in order."""

import asyncio
from collections.abc import AsyncGenerator

import pytest

from assistant.answering.question import Asker
from assistant.answering.record import Outcome
from assistant.running_answers.running import RunningAnswer, Timeouts
from assistant.wire.events import Event, Finish, Start, Status, Text

START, FINISH = Start("msg_1", "thr_1"), Finish()


def begin(*steps: Event | float, **timeouts: float) -> RunningAnswer:
    """A running answer of these events. A number is a pause in seconds."""

    async def events() -> AsyncGenerator[Event, None]:
        for step in steps:
            if isinstance(step, float):
                await asyncio.sleep(step)
            else:
                yield step

    answer = RunningAnswer("msg_1", "thr_1", Asker(1, 1, "fp", ""), Outcome(), Timeouts(**timeouts), resumable=False)
    answer.start(events())
    return answer


async def read(answer: RunningAnswer, accepts: bool | None = None) -> tuple[list, list]:
    """What a subscriber gets, in its order, and what of it was pushed. With `accepts` it has a `push`."""
    got, pushed = [], []

    def push(event: Event) -> bool:
        if accepts:
            got.append(event)
            pushed.append(event)
        return bool(accepts)

    async for event in answer.subscribe(push=None if accepts is None else push):
        got.append(event)
    return got, pushed


TEXTS = [Text(f"{number} ") for number in range(300)]  # more than a block of the log


async def test_a_subscriber_that_waits_gets_texts_pushed_and_all_else_in_order():
    paced = [step for text in TEXTS[:20] for step in (text, 0.002)]
    got, pushed = await read(begin(START, 0.01, *paced, *TEXTS[20:], 0.01, FINISH), accepts=True)
    assert got == [START, *TEXTS, FINISH]
    assert len(pushed) > 20, "the burst, too, is pushed"


async def test_all_but_the_last_event_are_pushed():
    status = Status("model")
    got, pushed = await read(begin(START, 0.01, status, *TEXTS[:2], status, 0.01, FINISH), accepts=True)
    assert got == [START, status, *TEXTS[:2], status, FINISH]
    assert pushed == got[:-1]


async def test_an_answer_goes_on_when_an_event_cannot_be_encoded():
    answer = begin(START, 0.01, *TEXTS[:2], 0.01, FINISH)
    got = [event async for event in answer.subscribe(push=lambda event: 1 / 0)]
    assert got == [START, *TEXTS[:2], FINISH]


async def test_a_text_that_cannot_be_pushed_is_yielded():
    got, pushed = await read(begin(START, 0.01, *TEXTS[:5], 0.01, *TEXTS[5:], FINISH), accepts=False)
    assert got == [START, *TEXTS, FINISH]
    assert not pushed


async def test_each_subscriber_gets_every_event():
    answer = begin(START, 0.01, *(step for text in TEXTS[:30] for step in (text, 0.001)), FINISH)
    results = await asyncio.gather(read(answer, True), read(answer), read(answer, False), read(answer, True))
    assert [got for got, _ in results] == 4 * [[START, *TEXTS[:30], FINISH]]


@pytest.mark.matrix
async def test_the_silence_before_a_keep_alive_begins_with_the_last_pushed_text():
    steps = [step for text in TEXTS[:10] for step in (text, 0.05)]
    got, pushed = await read(begin(START, 0.01, *steps, 0.5, FINISH, keep_alive=0.3), accepts=True)
    assert len(pushed) == 11
    assert got.index(None) == 11, "ten pauses of 50 ms are no silence of 300 ms"


async def test_pushed_texts_count_as_delivered():
    answer = begin(START, 0.01, *(Text("x") for _ in range(2_500)), FINISH, stalled_subscriber=0.1)
    got, _ = await read(answer, accepts=True)
    assert got[-1] == FINISH
    assert len(got) == 2_502
