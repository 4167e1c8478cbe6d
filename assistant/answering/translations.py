"""The sentences that the service itself writes into answers, in the reader's language."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from search.hits import Hit
from search.text.language import detect_language, detect_page_language

_MARKDOWN_SIGN = re.compile(r"[\\`*\[\]<>|~]|(?<!\w)_|_(?!\w)|&(?=[#\w])|(?<=\w):(?=//)|^[#>+-](?=\s)")


class Phrases(NamedTuple):
    """The sentences of one language, as in `phrases.toml`."""

    no_answer: str
    unsupported: str
    repetition: str
    nearest_pages: str
    support: str
    see_also: str
    closest: str
    read_on: str
    greeting: str
    thanks: str
    about: str
    other_language: str
    languages: Mapping[str, str]


_PHRASES = {
    language: Phrases(**phrases)
    for language, phrases in tomllib.loads(Path(__file__).with_name("phrases.toml").read_text(encoding="utf-8")).items()
}
ENGLISH = _PHRASES["en"]
OTHER_LANGUAGES = {language: phrases for language, phrases in _PHRASES.items() if language != "en"}


def choose_phrases(hits: Sequence[Hit], question: str = "") -> Phrases:
    """The service's sentences in the language of the question, if that is clear, else in that of the best hit."""
    return phrases_in(detect_language(question) or ((hits[0].language or "") if hits else ""))


def language_of(hits: Sequence[Hit]) -> str:
    """The language of the best passage as two letters; empty if neither its page nor its text says."""
    return (hits[0].language or detect_page_language(hits[0].text or hits[0].body))[:2].lower()


def phrases_in(language: str) -> Phrases:
    """The service's sentences in a language, or in English if they are not translated."""
    return OTHER_LANGUAGES.get(language[:2].lower(), ENGLISH)


def escape_markdown(text: str) -> str:
    """Escape a title or heading, so that Markdown shows its characters and nothing else."""
    return _MARKDOWN_SIGN.sub(r"\\\g<0>", " ".join(text.split()))
