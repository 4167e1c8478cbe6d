"""How many answers may run at once: in this process, for one client address, for one organization."""

from collections import Counter

from django.conf import settings

from assistant.answering.question import Asker

Slots = list[tuple[str, object]]


class Full(Exception):
    """No further answer may run now. It says why, for readers."""


class AnswerSlots:
    """The slots of this process. An answer takes one of the process, one of its address, one of its organization."""

    def __init__(self) -> None:
        self._used: Counter[tuple[str, object]] = Counter()
        self._closed_because = ""

    def reserve(self, asker: Asker) -> Slots:
        """Take the slots of an answer. Raises `Full`.

        `release` gives them back. After `RunningAnswers.add`, the end of the answer does it.
        """
        if self._closed_because:
            raise Full(self._closed_because)
        env = settings.ENV
        limits: dict[tuple[str, object], int] = {
            ("process", None): env.max_running_answers,
            ("network", asker.network): env.max_running_answers_ip,
            ("organization", asker.organization): env.max_running_answers_org,
        }
        if any(self._used[slot] >= limit for slot, limit in limits.items()):
            raise Full("Too many answers are running. Try again shortly.")
        self._used.update(limits.keys())
        return list(limits)

    def release(self, slots: Slots) -> None:
        """Give slots back."""
        for slot in slots:
            self._used[slot] -= 1
            if not self._used[slot]:
                del self._used[slot]

    def count(self, organization: int) -> int:
        """How many answers of an organization run in this process."""
        return self._used["organization", organization]

    def count_all(self) -> int:
        """How many answers run in this process."""
        return self._used["process", None]

    def close(self, reason: str) -> None:
        """Refuse all further answers: the process ends."""
        self._closed_because = reason


answer_slots = AnswerSlots()
