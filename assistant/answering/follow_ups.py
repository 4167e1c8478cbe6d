"""Finds out what a question is about that depends on earlier ones.

“Continue” after an answer that broke off searches for the earlier question again:

    "How do I install acme?", an answer that the reader stopped, "go on"   ->   "How do I install acme?"

A question of few words, or of some more with a pronoun, is searched together with those before it:

    "How do I install acme?", an answer, "and on Windows?"   ->   "How do I install acme? and on Windows?"

So is a pasted error, which does not say what the reader was doing. The pages that the last answer cites are
searched, too.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from assistant.answering import small_talk
from assistant.answering.question import Question, Turn
from search.text import analysis, references

MIN_WORDS = 3  # of a question that can be understood alone
MIN_WORDS_WITH_PRONOUN = 6  # of one with a word for something that was named before
MAX_PREVIOUS_QUESTIONS = 3  # searched together with a question
MAX_CITED = 3  # pages of the last answer
MAX_SELECTION = 500  # characters of a selection that are part of the topic

_ERROR = re.compile(r"(?:Error|Exception|error|fatal|panic)[:(\[]|Traceback \(most")
_CITED = re.compile(r"\[\d{1,3}\]\((https?://[^()\s#]+)")
_CONTINUE = re.compile(r"\W*(?:continue|go\s+on)\W*", re.IGNORECASE)


def resolve(question: Question, history: Sequence[Turn]) -> tuple[Question, Sequence[Turn]]:
    """Return the question to search for, and the turns before it.

    A history that ends with a question has an answer that was stopped before its first word.
    """
    is_broken_off = history and (history[-1].role == "user" or history[-1].broken_off)
    if is_broken_off and _CONTINUE.fullmatch(question.text):
        for index in range(len(history) - 1, -1, -1):
            turn = history[index]
            if turn.role == "user" and not _CONTINUE.fullmatch(turn.text):
                return replace(question, text=turn.text), history[:index]
    return question, history


def add_previous_questions(question: Question, history: Sequence[Turn]) -> tuple[Question, str]:
    """The question to search for, and the text of the search."""
    searched, before = resolve(question, history)
    joined, cited = join_previous_questions(searched, before), find_cited_addresses(before or question.client_history)
    searched = replace(searched, previous_questions=joined, cited_addresses=cited if joined else ())
    return searched, f"{searched.previous_questions} {searched.text}".strip()


def join_previous_questions(question: Question, history: Sequence[Turn]) -> str:
    """Join the previous questions that are needed to understand this one. Empty if the reader selected a text."""
    joined = ""
    if question.context:
        return joined
    turns = [turn.text for turn in history or question.client_history if turn.role == "user"]
    before = [text for text in turns if references.significant_words(text) and not small_talk.recognise(text)]
    needed = MIN_WORDS_WITH_PRONOUN if references.has_pronoun(question.text) else MIN_WORDS
    has_subject = not _ERROR.search(question.text)
    for text in before[: -MAX_PREVIOUS_QUESTIONS - 1 : -1]:
        if (joined or has_subject) and len(references.significant_words(f"{joined} {question.text}")) >= needed:
            break
        joined = f"{text} {joined}".strip()
    return joined


def find_cited_addresses(history: Sequence[Turn]) -> Sequence[str]:
    """The addresses of the pages that the previous answer cites, in the order in which it cites them."""
    answer = next((turn.text for turn in reversed(history) if turn.role == "assistant"), "")
    return tuple(dict.fromkeys(_CITED.findall(answer)))[:MAX_CITED]


def quotation_topic(question: Question) -> str:
    """The topic of a quotation: question and selection, or the previous questions if these are only stop words."""
    selection = " ".join(item.value[:MAX_SELECTION] for item in question.context)
    has_topic = selection or analysis.without_stop_words(question.text)
    return f"{question.text} {selection}" if has_topic else question.previous_questions or question.text
