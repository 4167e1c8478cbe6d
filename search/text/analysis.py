"""Text to index terms, the same for every engine, so that ranking does not depend on one.

A word becomes its stem. A code name becomes its parts and their joined form, so
that `useChat`, `use chat` and `usechat` match each other, and so do `--no-cache`,
`no cache` and `nocache`. Scripts without blanks, such as Chinese and Thai, become pairs of characters.
An operator or a name such as `.NET` that stands alone is a term as well.
"""

import functools
import re
import tomllib
import unicodedata
from collections.abc import Container, Iterable, Sequence
from itertools import chain
from pathlib import Path

import Stemmer

from docsite.core.unicode.normalization import normalize, remove_accents

VERSION = 9  # raise it when terms change: every page is then analysed again

# Vowel signs and points that belong to the letter before them: Hebrew, Arabic, the scripts of India, Thai and others.
_MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0900-\u0963\u0966-\u109f\u1780-\u17d3"
)
_LETTER = rf"[\w{_MARKS}]"
TOKEN = re.compile(rf"{_LETTER}+(?:[.:/'’+-]+{_LETTER}+)*\+*#?")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|0+")
_ASCII_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_SEGMENT = re.compile(r"[^.:/]+")
_CODE = re.compile(r"--?\w[\w-]*|[\w$.]+(?=\()|[\w$]+(?:\.[\w$]+)+|\w*_\w+|[a-z]+[A-Z]\w*")
_CODE_RUN = re.compile(r"[\w$.-]+")  # every code name is inside one
_HTTP_PATH = re.compile(
    r"(?:\b(GET|PUT|POST|DELETE|OPTIONS|HEAD|PATCH|TRACE)\s{1,3}|(?<![^\s\"'`(]))(?:https?://[^\s/\"'`?#]{1,200})?(/[^\s?#\"'`)]+)"
)
_PARAMETER = re.compile(r"\{[^{}]*\}|^[:<].*")
# A number, or an id: in hexadecimal digits, or long with a digit. `oauth2` and `s3` are names.
_VALUE = re.compile(r"/(?!v\d)(?=[^/\d]*\d)(?:[0-9A-Fa-f-]+|[\w-]{12,})(?=/|$)")
_CURL = re.compile(r"curl\s+(?:-|[A-Z]{3,}\s|[\"']?https?://)")
_MAX_PATHS, _MAX_VALUES = 2, 6  # of a text; parts of a path that may be values
_BETWEEN_NAMES = re.compile(r",\s++(?:(?:and|or)\s+)?|(?<!\s)\s++(?:[/|&]|and|or)\s+")
_UNSPACED = re.compile(  # Thai, Lao, Burmese, Khmer, Japanese, Chinese, Korean
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]+"
)
_SIGNS = frozenset("!?:=@&|<>+*%^~.#$-")
_SIGN = re.compile(
    r"(?<![^\s(\[`])(?:(?!--[\s`])[!?:=@&|<>+*%^~.#$-]{2,3}(?![^\s)\]`,;])|[?!&%^~@](?=[\s`]+\w)|\.[A-Za-z][\w-]{1,60}+)"
)
MAX_WORD = 256  # characters of a word that count
_MAX_TERM = 64
_MAX_WORDS = 50_000  # of a language that are remembered
_MAX_PARTS = 8
_MAX_NAMES = 8
_CLITICS = ("s", "t", "re", "ve", "ll", "d", "m")

LANGUAGES = tomllib.loads(Path(__file__).with_name("languages.toml").read_text(encoding="utf-8"))
_LETTERS = LANGUAGES.pop("letters")
STOP_WORDS = frozenset(LANGUAGES["en"]["stop"].split())
FUNCTION_WORDS = {
    language: frozenset(words["common"].lower().split()) for language, words in LANGUAGES.items() if "common" in words
}
_SENSE_OF_NAMES = frozenset(("from", "no", "or", "than"))  # stop words without which a heading means something else
OPERATORS = frozenset(("and", "not", "or"))  # words also between code names: `min or max` is not `minor`


def _read_table(pairs: str) -> dict[int, str]:
    """Pairs such as `ł=l`, for `str.translate`."""
    return {ord(one): other for one, _, other in (pair.partition("=") for pair in pairs.split())}


_VARIANTS = {language: _read_table(words["variants"]) for language, words in LANGUAGES.items() if "variants" in words}
_PLAIN = _read_table(_LETTERS["all"]) | {ord(zero) + n: str(n) for zero in _LETTERS["zeros"] for n in range(10)}


def to_plain(word: str) -> str:
    """The word without accents, and with one letter for all variants of it."""
    return remove_accents(word).translate(_PLAIN)


def table_of(language: str) -> dict[str, str]:
    """What `languages.toml` says of a language; nothing of an unknown one."""
    code = language[:2].lower() or "en"
    table: dict[str, str] = LANGUAGES.get("no" if code == "nb" else code, {})
    return table


@functools.cache
def _stemmer(language: str) -> "Stemmer.Stemmer | None":
    name = table_of(language).get("stemmer")
    return Stemmer.Stemmer(name) if name else None


@functools.lru_cache(maxsize=100_000)
def _stem_of(word: str, language: str) -> str:
    stemmer = _stemmer(language)
    if word.isascii():
        return stemmer.stemWord(word) if stemmer and word.isalpha() else word
    code = language[:2].lower()
    word = word.translate(_VARIANTS.get(code, {}))
    if code == "ar" and word.endswith("ه"):  # as readers write the ending that the stemmer knows
        word = f"{word[:-1]}ة"
    if code in ("", "en"):  # stemmers of other languages need the accents
        word = remove_accents(word)
    return to_plain(stemmer.stemWord(word) if stemmer else word)  # a word with vowel signs is not `isalpha`


def words(text: str) -> list[str]:
    """The words and code names of a text, as written; only the beginning of a very long one."""
    return [word[:MAX_WORD] for word in TOKEN.findall(normalize("NFKC", text))]


def tokens(text: str, known: Container[str] | None = None) -> list[str]:
    """Operators and names such as `.NET` that stand alone in a text, then its words and code names.

    Of the former, only those whose lower case is `known`, if that is given.
    """
    return [*(sign for sign in _SIGN.findall(text) if known is None or sign.lower() in known), *words(text)]


def pieces_of(word: str) -> list[tuple[int, int]]:
    """Spans of the parts of a word or code name: letters of one case, numbers, pairs of characters without blanks."""
    if word.isascii():
        return [part.span() for part in _ASCII_PART.finditer(word)]
    pieces: list[tuple[int, int]] = []
    position = 0
    for run in _UNSPACED.finditer(word):
        pieces += _cased(word, position, run.start())
        start, end = run.span()
        pieces += [(at, at + 2) for at in range(start, end - 1)] or [(start, end)]
        position = end
    return pieces + _cased(word, position, len(word))


def _cased(word: str, start: int, end: int) -> list[tuple[int, int]]:
    kinds = "".join(map(_kind, word[start:end]))
    return [(start + part.start(), start + part.end()) for part in _PART.finditer(kinds)]


@functools.cache
def _kind(letter: str) -> str:
    """A capital, another letter or mark, a digit, or anything else, as one ASCII character."""
    if letter.isalpha() or unicodedata.category(letter)[0] == "M":
        return "A" if letter.isupper() else "a"
    return "0" if letter.isalnum() else " "


def split_name(word: str) -> tuple[list[str], list[str]]:
    """The parts of a word or code name, and its joined forms, all in lower case and not yet stemmed.

    >>> split_name("fs.createReadStream")
    (['fs', 'create', 'read', 'stream'], ['createreadstream', 'fscreatereadstream'])
    """
    if word.isascii() and word.isalpha() and word[1:].islower():
        return [word.lower()], []  # most words
    if word[:1] in _SIGNS:
        return [word.lower()], []
    pieces = pieces_of(word)
    parts = [word[start:end].lower() for start, end in pieces]
    if _UNSPACED.search(word):
        return parts, []
    if len(parts) == 2 and parts[1] in _CLITICS and ("'" in word or "’" in word):
        return parts[:1], []  # the reader's, don't
    if len(parts) > 1:
        segments = [segment.span() for segment in _SEGMENT.finditer(word)]
        joined = [[part for part, (at, _) in zip(parts, pieces, strict=True) if a <= at < b] for a, b in segments]
        names = ["".join(inside) for inside in joined if 1 < len(inside) < len(parts)]
        return parts[:_MAX_PARTS], list(dict.fromkeys([*names[:_MAX_PARTS], "".join(parts)]))
    if parts and word.endswith(("++", "#")):
        return parts, [parts[0] + ("plusplus" if word.endswith("++") else "sharp")]
    return parts, []


def stem(form: str, language: str = "en") -> str:
    """The index term of a form: its stem in that language, without accents."""
    return _stem_of(form[:_MAX_TERM], language)


def stems(words: Iterable[str], language: str = "en") -> tuple[str, ...]:
    """The stem of each of some words."""
    return tuple(stem(word.lower(), language) for word in words)


def content_stems(text: str, language: str = "en") -> frozenset[str]:
    """The stems of a query's words, in any order."""
    return frozenset(stems(content_words(text), language))


def terms(text: str, language: str = "en") -> list[str]:
    """All index terms of a text, in order, with repetitions."""
    known = _words_of(language[:2].lower())
    return [term for word in tokens(text) for term in known[word][1]]


def terms_of(words: Iterable[str], language: str = "en") -> set[str]:
    """The index terms of some words, which `words` has found."""
    known = _words_of(language[:2].lower())
    return {term for word in words for term in known[word][1]}


def index_texts(texts: Sequence[str], language: str = "en") -> tuple[list[str], set[str], set[str]]:
    """The index terms of each text, in order and with blanks between them; then all different terms, and all forms."""
    known = _words_of(language[:2].lower())
    words_of_texts = [tokens(text) for text in texts]
    joined = [" ".join([in_text for word in one if (in_text := known[word][2])]) for one in words_of_texts]
    found = [known[word] for word in set[str]().union(*words_of_texts)]
    different_forms, different_terms = (set[str]().union(*[forms[kind] for forms in found]) for kind in (0, 1))
    return joined, different_terms, different_forms


class _Words(dict[str, tuple[tuple[str, ...], tuple[str, ...], str]]):
    """The forms and the terms of the words of a language, and the terms with blanks between them."""

    def __init__(self, language: str) -> None:
        super().__init__()
        self.language = language

    def __missing__(self, word: str) -> tuple[tuple[str, ...], tuple[str, ...], str]:
        forms = tuple(chain.from_iterable(split_name(word)))
        terms = tuple(stem(form, self.language) for form in forms)
        if not word.isascii() and self.language not in ("", "en"):  # readers may leave the accents out
            bare = [stem(plain, self.language) for form in forms if (plain := to_plain(form)).isascii()]
            terms += tuple(term for term in bare if term not in terms)
        found = forms, terms, " ".join(terms)
        if len(word) <= _MAX_TERM:  # readers can send any number of long words
            if len(self) >= _MAX_WORDS:
                self.clear()
            self[word] = found
        return found


_words_of = functools.lru_cache(maxsize=8)(_Words)  # by the two letters of a language


def name_of(text: str) -> str:
    """A text as one word, to compare names with: `uv.lock` and `UV lock` are the same."""
    return "".join(c for c in normalize("NFKC", text).lower() if c.isalnum())


def content_name_of(text: str, language: str = "en") -> str:
    """A key that is the same for texts that differ only in stop words and endings: the joined stems of the other words.

    Empty if fewer than two words are left.

    >>> content_name_of("How do I install a package?") == content_name_of("Installing packages")
    True
    """
    small = STOP_WORDS - _SENSE_OF_NAMES
    content = [word for word in words(text) if word.lower() not in small]
    return "".join(stem(form, language) for word in content for form in split_name(word)[0]) if len(content) > 1 else ""


def names_of(heading: str) -> list[str]:
    """The names in a heading: the whole heading, and each code name or flag, without arguments; also its last part.

    >>> names_of("fs.readFile(path[, options])")
    ['fsreadfilepathoptions', 'fsreadfile', 'readfile']
    """
    names = [name_of(heading)]
    for piece in _BETWEEN_NAMES.split(heading):
        if code := _CODE.match(piece.strip()):
            names += [name_of(code[0]), name_of(code[0].rsplit(".", 1)[-1])]
    return [name for name in dict.fromkeys(names) if len(name) > 1][:_MAX_NAMES]


def path_names(text: str, *, with_values: bool = False) -> list[str]:
    """The paths of HTTP operations in a text as names, with `{}` for each parameter; behind a method also with it.

    With `with_values` each part of a path may be the value of a parameter, so there is a name for each possibility.

    >>> path_names("GET /users/{id}")
    ['get/users/{}', '/users/{}']
    >>> path_names("https://acme.example/users/7?x=1", with_values=True)
    ['/users/7', '/users/{}', '/{}/7']
    """
    names = []
    for method, path in _HTTP_PATH.findall(text)[:_MAX_PATHS]:
        parts = [_PARAMETER.sub("{}", part) for part in path.lower().strip("/").split("/")]
        free = [at for at, part in enumerate(parts) if part != "{}"][-_MAX_VALUES:] if with_values else []
        for number in range((1 << len(free)) - (len(free) == len(parts)) or 1):
            chosen = {at for bit, at in enumerate(reversed(free)) if number >> bit & 1}
            name = "/" + "/".join("{}" if at in chosen else part for at, part in enumerate(parts))
            names += [method.lower() + name, name] if method and not with_values else [method.lower() + name]
    return names


def shorten_addresses(text: str) -> str:
    """A text without the host of an operation's address and the values in it; of a call of curl only method and path.

    >>> shorten_addresses("curl -X PUT https://acme.example/v2/users/7f3/keys -d @x")
    'PUT /v2/users /keys'
    """
    found = _HTTP_PATH.search(text)
    if not found or not (found[1] or "://" in found[0]):
        return text
    is_call = _CURL.match(text)
    before, after = ("", text[len(text.rstrip()) :]) if is_call else (text[: found.start()], text[found.end() :])
    return " ".join(filter(None, (before.strip(), found[1], _VALUE.sub(" ", found[2]) + after)))


def code_names(text: str) -> list[str]:
    """The code names and flags in a text, as written.

    >>> code_names("call useChat(x) with --no-cache")
    ['useChat', '--no-cache']
    """
    runs = ((run.start(), min(run.end(), run.start() + MAX_WORD)) for run in _CODE_RUN.finditer(text))
    names = (name for start, end in runs for name in _CODE.findall(text, start, end + 1))  # a bracket may follow
    return [name for name in dict.fromkeys(names) if name.lower() not in OPERATORS]


def content_words(text: str) -> list[str]:
    """The words of a query without stop words; all words if only stop words are left."""
    return without_stop_words(text) or words(text)


def without_stop_words(text: str) -> list[str]:
    """The words of a text that are not stop words. May be empty."""
    return [word for word in words(text) if word.lower() not in STOP_WORDS]
