"""A model that only repeats itself is noticed soon, and a text that rightly repeats is not."""

import random

import pytest

from assistant.upstream.loop_detector import LoopDetector

BEFORE = "To install acme, run the command [1].\n\n"
LOOPS = {
    "a sentence": "Restart the server and try it again. ",
    "an item": "- Set the option to true [1]\n",
    "a paragraph with an inner repetition": "Open the page and log in. Open the page and log in. Then wait.\n\n",
    "a step with its code": "Run this command in your shell:\n\n```sh\nacme install\n```\n\n",
    "a sentence in Japanese": "サーバーを再起動してください。",
    "a sentence in Korean": "서버를 다시 시작한 다음 한 번 더 시도해 보세요. ",
    "a long word": f"{'x' * 300} and some more words ",
}
STEPS = "Restart the server and try it again.\n"
TRUE_TEXTS = {
    "three times is a refrain": STEPS * 3,
    "numbered steps": "".join(f"{number}. {STEPS}" for number in range(1, 40)),
    "headings with the same list": "".join(
        f"## {name}\n\n- Download the archive\n- Unpack it there\n" for name in "abcdef"
    ),
    "a table": "| option | meaning |\n| --- | --- |\n" + "| not yet documented | see the next release |\n" * 30,
    "cells of a row": "| x |" + " not supported in this version |" * 30 + "\n",
    "a table without leading bars": "a | b\n--- | ---\nx" + " | not supported in this version" * 30 + "\n",
    "code": "```yaml\n" + "- name: a job of the list\n  run: make all of it\n" * 30 + "```\n",
    "code after code": "```\n"
    + "print the same line of text\n" * 9
    + "```\n~~~\n"
    + "print the same line of text\n" * 9
    + "~~~\n",
    "one command for each system": "".join(
        f"Run this command in your shell:\n\n```sh\n{name}\n```\n" for name in "abcdef"
    ),
    "a rule": "* * * * * * * * * * * * * * * * * * * * * * * * * * * * *\n" * 3,
    "few words": "on and " * 200,
    "short words": "do it or no " * 200,
    "numbers": "0 0 0 0 1 0 0 0 " * 40,
}


def read(text: str, seed: int) -> tuple[bool, str]:
    """Whether a text is a loop, and what of it is kept, cut into pieces at random."""
    chance, guard, kept, at = random.Random(seed), LoopDetector(), "", 0
    longest = chance.choice([1, 3, 9, 40, 5_000])
    while at < len(text) and not guard.is_loop:
        size = chance.randint(1, longest)
        kept += guard.feed(text[at : at + size])
        at += size
    return guard.is_loop, kept


@pytest.mark.parametrize("name", LOOPS)
@pytest.mark.parametrize("seed", range(8))
def test_a_loop_ends_after_three_repeats(name, seed):
    passage = LOOPS[name]
    is_loop, kept = read(BEFORE + passage * 200, seed)
    assert is_loop
    assert f"{BEFORE}{passage * 200}".startswith(kept)
    assert len(BEFORE + passage * 4) - 2 <= len(kept) <= len(BEFORE + passage * 5) + 40


@pytest.mark.parametrize("name", TRUE_TEXTS)
@pytest.mark.parametrize("seed", range(8))
def test_a_text_that_rightly_repeats_is_kept(name, seed):
    assert read(TRUE_TEXTS[name], seed) == (False, TRUE_TEXTS[name])
