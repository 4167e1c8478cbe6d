"""Words of the owner of a project: synonyms, and pages that come first for some words. One rule a line.

    k8s, kubernetes            a query with one of them finds the others, too
    sso => single sign-on      a query with `sso` finds `single sign-on`, not the other way round
    install, setup => /install the page /install comes first for the query `install` or `setup`

A line that begins with `#` is a comment.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from search.text import analysis

MAX_LINES = 500
MAX_PHRASES = 10  # of a line
MAX_WORDS = 5  # of a phrase
MAX_CHARACTERS = 80  # of a phrase
MAX_PATH = 400
MAX_TEXT = 100_000  # characters of all lines
_ARROW = "=>"

Phrase = tuple[str, ...]  # words in lower case, without stop words


@dataclass(frozen=True)
class Line:
    """A rule as it was written: phrases, and what stands behind the arrow, if there is one."""

    number: int
    phrases: tuple[str, ...]
    targets: tuple[str, ...]


@dataclass(frozen=True)
class Synonyms:
    """For each phrase, by the stems of its words, the phrases that a query with it finds, too."""

    phrases: Mapping[Phrase, tuple[Phrase, ...]]
    longest: int = 0  # words of the longest phrase

    def find(self, words: Sequence[str], languages: Sequence[str]) -> tuple[int, tuple[Phrase, ...]]:
        """How many of the first words are the longest phrase with synonyms, and these; 0 if there is none."""
        for length in range(min(self.longest, len(words)), 0, -1):
            for language in languages:
                if found := self.phrases.get(analysis.stems(words[:length], language)):
                    return length, found
        return 0, ()


NO_SYNONYMS = Synonyms({})


def check_synonyms(text: str) -> list[str]:
    """A sentence for each wrong line."""
    errors = _check_size(text)
    for line in _split_lines(text):
        if not line.targets and len(line.phrases) < 2:
            errors.append(f"Line {line.number}: write at least two words or phrases, with a comma between them.")
            continue
        wrong = [*_check_phrases(line.phrases), *(_check_phrases(line.targets) if line.targets else ())]
        errors += [f"Line {line.number}: {error}" for error in wrong]
    return errors


def check_promotions(text: str) -> list[str]:
    """A sentence for each wrong line. Whether the pages exist is not checked."""
    errors = _check_size(text)
    words: dict[frozenset[str], int] = {}
    for line in _split_lines(text):
        errors += [f"Line {line.number}: {error}" for error in _check_phrases(line.phrases)]
        if len(line.targets) != 1 or not line.targets[0].startswith("/") or len(line.targets[0]) > MAX_PATH:
            errors.append(f"Line {line.number}: end it with => and the path of one page, such as => /install.")
        for phrase in line.phrases:
            if (key := analysis.content_stems(phrase, "en")) and words.setdefault(key, line.number) != line.number:
                errors.append(f"Line {line.number}: line {words[key]} has a page for “{phrase}” already.")
    return errors


@lru_cache(maxsize=64)
def parse_synonyms(text: str, languages: tuple[str, ...]) -> Synonyms:
    """The synonyms of valid lines, for queries in these languages. Wrong lines are left out."""
    found: dict[Phrase, dict[Phrase, None]] = {}
    for line in _split_lines(text):
        phrases, targets = _phrases(line.phrases), _phrases(line.targets)
        for phrase in phrases:
            others = targets if line.targets else phrases
            for language in languages:
                wanted = found.setdefault(analysis.stems(phrase, language), {})
                wanted.update((other, None) for other in others if other != phrase)
    kept = {phrase: tuple(others) for phrase, others in found.items() if others}
    return Synonyms(kept, max(map(len, kept), default=0)) if kept else NO_SYNONYMS


@cache
def load_equivalents() -> Synonyms:
    """Spellings and abbreviations that mean the same in any documentation in English."""
    return parse_synonyms(Path(__file__).with_name("equivalents.txt").read_text(encoding="utf-8"), ("en",))


@lru_cache(maxsize=64)
def _parse_promotions(text: str, language: str) -> dict[frozenset[str], str]:
    return {
        key: line.targets[0]
        for line in _split_lines(text)
        if len(line.targets) == 1
        for phrase in line.phrases
        if (key := analysis.content_stems(phrase, language))
    }


def find_promoted(text: str, query: str, languages: Sequence[str]) -> str:
    """The path of the page that the lines promote for a query with just these words; empty without one."""
    if not text:
        return ""
    pages = (
        (_parse_promotions(text, language), analysis.content_stems(query[:MAX_CHARACTERS], language))
        for language in languages
    )
    return next((promoted[key] for promoted, key in pages if key in promoted), "")


def list_targets(text: str) -> dict[str, int]:
    """The paths of promoted pages, each with the number of its first line."""
    targets: dict[str, int] = {}
    for line in _split_lines(text):
        for target in line.targets:
            targets.setdefault(target, line.number)
    return targets


def _split_lines(text: str) -> Iterator[Line]:
    for number, written in enumerate(text.splitlines(), 1):
        if written.strip() and not written.lstrip().startswith("#"):
            left, arrow, right = written.partition(_ARROW)
            targets = tuple(filter(None, map(str.strip, right.split(",")))) if arrow else ()
            yield Line(
                number, tuple(filter(None, map(str.strip, left.split(",")))), targets or (("",) if arrow else ())
            )


def _check_size(text: str) -> list[str]:
    lines = sum(1 for _ in _split_lines(text))
    errors = [f"There are {lines:,} lines; at most {MAX_LINES} are possible."] if lines > MAX_LINES else []
    return [*errors, f"At most {MAX_TEXT:,} characters are possible."] if len(text) > MAX_TEXT else errors


def _check_phrases(phrases: Sequence[str]) -> Iterator[str]:
    if not phrases:
        yield "write a word before =>."
    if len(phrases) > MAX_PHRASES:
        yield f"at most {MAX_PHRASES} words or phrases are possible."
    for phrase in phrases:
        words = analysis.words(phrase)
        if not phrase:
            yield "write a word behind =>."
        elif not words:
            yield f"“{phrase}” has no word."
        elif len(phrase) > MAX_CHARACTERS or len(words) > MAX_WORDS:
            yield f"“{phrase[:40]}” is too long; at most {MAX_WORDS} words, {MAX_CHARACTERS} characters, are possible."


def _phrases(texts: Sequence[str]) -> list[Phrase]:
    phrases = (tuple(word.lower() for word in analysis.content_words(text)[:MAX_WORDS]) for text in texts)
    return [phrase for phrase in phrases if phrase]
