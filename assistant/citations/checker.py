"""Citations: markers become links to the sentence that supports them, and no link that was not checked is made."""

import re
from collections.abc import Collection, Sequence
from typing import Any

from assistant.citations import addresses
from assistant.citations.addresses import Addresses
from assistant.citations.evidence import Passage, extract_claim
from assistant.citations.sanitizer import Escaping
from assistant.citations.stream_rewriter import LONGEST_LINK, RUN
from assistant.events import Source
from search.hits import Hit

MOST_CHECKS = 200  # markers and links; what comes after so many is no answer, and is dropped unrecorded
_DEEPEST = 8  # brackets within brackets
_WRITTEN = 100  # characters of what the model wrote, in the record
_NUMBERS = r"\d{1,3}(?:\s{0,3}(?:[,;&–-]|and)\s{0,3}(?:(?:passages?|sources?)\s{1,3})?\d{1,3}){0,20}"
_MARKER = re.compile(
    rf"\[\s{{0,3}}(?:[\^#]|(?:passages?|sources?):?\s{{1,3}})?({_NUMBERS})\.?\s{{0,3}}\]|【({_NUMBERS})(?::\d{{1,3}})?(?:†[^】\n]{{0,100}})?】",
    re.IGNORECASE,
)
_TARGET = re.compile(r"\(((?:[^()\\\n]|\\.|\((?:[^()\\\n]|\\.)*\))*)\)")
_LINK_TARGET = re.compile(
    r"""\([ \t]*(?:<([^<>\n]*)>|([^\s<]\S*?)?)(?:[ \t]+(?:"[^"\n]*"|'[^'\n]*'|\([^()\n]*\)))?[ \t]*\)$"""
)
_REFERENCE = re.compile(r"\[([^\[\]\n]{0,100})\]")
_DEFINITION = re.compile(
    r"\[[^\[\]\n]{1,100}\]:[ \t]*(<[^<>\n]*>|\S+)(?:[ \t]+(?:\"[^\"\n]*\"|'[^'\n]*'|\([^()\n]*\)))?[ \t]*$"
)
_NO_DEFINITION = re.compile(r"\[[^\[\]]*\]:[ \t]*\S+[ \t]+[^\s\"'(]")
_ADDRESS = re.compile(r"(?:[a-z][a-z\d+.-]*:|//|www\.|[/.]|.*[/.])", re.IGNORECASE)
_PIECE = re.compile(r"\\.|`+|\[|\]|[^\\`\[\]\n]+|\\", re.DOTALL)
_ANGLED = re.compile(r"<([a-z][a-z\d+.-]{1,31}:[^\s<>]*|[\w.+-]+@[\w.-]+)>", re.IGNORECASE)
_MAIL = re.compile(r"@[\w-]+(?:\.[\w-]+)+")
_MAIL_SO_FAR = re.compile(r"@[\w.-]*")
_MAIL_NAME = re.compile(r"[\w.+-]{1,64}$")
_ENDS = re.compile(r"[?!.,:;*_~')]*(?=\s|$)")  # an address that ends here ends so for every renderer
_MAY_END = re.compile(r"[?!.,:;*_~')]*")


class Citations(Escaping):
    """Checks an answer's citations and links, and numbers the cited pages by first use.

    `sources` are the cited pages. `checks` tells of each marker, link, image and
    address that the model wrote: `written`, then `url` and `sentence` (the support
    found for it) where it was kept, or `dropped`, the reason why not.
    """

    def __init__(self, passages: Sequence[Hit], question: str = "", allowed: Collection[str] = ()) -> None:
        super().__init__()
        self.passages = passages
        self.question = question
        self.sources: list[Source] = []
        self.checks: list[dict[str, Any]] = []
        self.refused = False  # whether the model said that it has no answer: then nothing is cited
        self._addresses = Addresses(passages, allowed)
        self._ready: dict[int, Passage] = {}
        self._pages: dict[str, int] = {}

    def cite(self, index: int, sentence: str = "") -> tuple[str, list[Source]]:
        """The link to a sentence of passage `index` (from 0), and its page as a source when it is first cited.

        Without a sentence the link goes to the section.
        """
        passage = self.passages[index]
        number = self._pages.get(passage.path)
        new = []
        if number is None:
            number = self._pages[passage.path] = len(self._pages) + 1
            new = [Source(number, passage.url.partition("#")[0], passage.title)]
            self.sources += new
        found = self._passage(index).find_sentence(sentence) if sentence else ""
        return f"[{number}]({self._url(index, found)})", new

    def _angle(self) -> bool:
        follower = self._held[1:2]
        if not follower:
            return self._take("<") if self._final else False
        if follower in " \t\n=-" or follower.isdigit():
            return self._take("<")
        inside = self._held[: LONGEST_LINK + 1]
        if found := _ANGLED.match(inside):
            return self._lead("", found[1], found.end())
        if not self._final and len(inside) <= LONGEST_LINK and not re.search(r"[\s<>]", inside[1:]):
            return False
        return self._take("<", "\\<")

    def _bang(self) -> bool:
        follower = self._held[1:2]
        if not follower:
            return self._take("!") if self._final else False
        if follower != "[":
            return self._take("!")
        return self._bracket(image=True)

    def _square(self) -> bool:
        return self._bracket(image=False)

    def _bracket(self, image: bool) -> bool:
        """A marker, a link or an image, or just a bracket."""
        held = self._held[int(image) : LONGEST_LINK]
        known = self._final or len(self._held) >= LONGEST_LINK or "\n" in held
        held = held.partition("\n")[0]
        literal = ("!", "\\!") if image else ("[", "[")
        close = _closing(held)
        if close is None:
            return self._take(*literal) if known else False
        if close < 0:
            return self._take(*literal)
        follower = held[close : close + 1]
        if not follower and not known:
            return False
        marker = _MARKER.fullmatch(held, 0, close)
        if follower == ":" and not self._begun and not image and self._line and not self._line.continues:
            if not known and not _NO_DEFINITION.match(held):
                return False
            if (definition := _DEFINITION.match(held)) and _ADDRESS.match(definition[1]):
                self._record(held, dropped="links of the model's own are not defined")
                return self._vanish(len(held))
        if follower == "(":
            target = _TARGET.match(held, close)
            if target is None and not known:
                return False
            if marker and not (image and target):
                if image:
                    return self._take("!", "\\!")
                return self._mark(marker, target.end() if target else close)
            if target and (inside := _LINK_TARGET.fullmatch(target[0])):
                label = held[1 : close - 1]
                address = inside[1] if inside[1] is not None else inside[2] or ""
                if image:
                    self._record("!" + held[: target.end()], dropped="images are not shown")
                    return self._unwrap(label, 1 + target.end())
                return self._lead(label, address, target.end())
            return self._take(*literal)
        if marker:
            return self._take("!", "\\!") if image else self._mark(marker, close)
        if follower == "[" and not self._past[-1:].isalnum():
            reference = _REFERENCE.match(held, close)
            if reference is None and not known and len(held) - close <= 100:
                return False
            if reference:
                end = close if _MARKER.fullmatch(reference[0]) else reference.end()
                written = "!" * image + held[: reference.end()]
                self._record(
                    written, dropped="images are not shown" if image else "links of the model's own are not defined"
                )
                return self._unwrap(held[1 : close - 1], int(image) + end)
        return self._take(*literal)

    def _lenticular(self) -> bool:
        marker = _MARKER.match(self._held)
        if marker:
            return self._mark(marker, marker.end())
        if not self._final and len(self._held) < 150 and not re.search("[】\n]", self._held):
            return False
        return self._take("【")

    def _at(self) -> bool:
        so_far = _MAIL_SO_FAR.match(self._held)
        assert so_far
        if so_far.end() == len(self._held) <= LONGEST_LINK and not self._final:
            return False
        found = _MAIL.match(self._held)
        name = _MAIL_NAME.search(self._past)
        if not found or not name:
            return self._take("@")
        written = name[0] + found[0]
        if self._addresses.owner(written).url:
            ends = _ENDS.match(self._held, found.end())
            if not self._final and _MAY_END.fullmatch(self._held, found.end()):
                return False
            if ends:
                self._record(written, url=f"mailto:{written}")
                return self._take_address(found[0])
        self._record(written, dropped="not in the passages")
        return self._vanish(found.end())

    def _mark(self, marker: re.Match[str], size: int) -> bool:
        """A marker becomes links to what it names and what supports its claim; else it vanishes."""
        written = self._held[:size]
        links = []
        for number in dict.fromkeys(_numbers(marker[1] or marker[2])):
            if not 1 <= number <= len(self.passages):
                self._record(written, dropped="no such passage")
            elif link := self._cited(number - 1, written):
                links.append(link)
        if not links:
            return self._vanish(size)
        self._held = self._held[size:]
        self._link(" ".join(dict.fromkeys(links)))
        return True

    def _cited(self, index: int, written: str) -> str:
        """The link to a passage for what was said last; empty when the passage cannot support it."""
        if len(self.checks) >= MOST_CHECKS:
            return ""
        if self.refused:
            self._record(written, dropped="the model says that it has no answer")
            return ""
        claim = extract_claim(self._said) or self._cells.strip()
        passage = self._passage(index)
        if reason := passage.find_objection(claim):
            self._record(written, dropped=reason)
            return ""
        sentence = passage.best_sentence(claim, self.question)
        link, new = self.cite(index, sentence)
        self._events += new
        self._record(written, url=self._url(index, sentence), sentence=sentence)
        return link

    def _lead(self, label: str, address: str, size: int) -> bool:
        """A link, or an address without a label: a citation, one that may stay, or nothing but its label."""
        written = self._held[:size]
        owner = self._addresses.owner(address)
        if owner.passages:
            index = next((i for i in owner.passages if self.passages[i].url == address), owner.passages[0])
            if label:
                self._held = f"{label} [{index + 1}]{self._held[size:]}"
                return self._again()
            if link := self._cited(index, written):
                self._held = self._held[size:]
                self._link(link)
                return True
            return self._vanish(size)
        if owner.url and len(self.checks) < MOST_CHECKS:
            self._record(written, url=owner.url)
            self._held = self._held[size:]
            url = addresses.safe(owner.url)
            self._link(f"[{plain}]({url})" if (plain := _plain(label)) else f"<{url}>")
            return True
        self._record(written, dropped="not in the passages")
        return self._unwrap(label, size)

    def _address(self, beginning: str) -> bool:
        """A bare address, or what would make one of what was written already (then without a beginning)."""
        run = addresses.RUN.match(self._held)
        assert run
        if run.end() == len(self._held) <= LONGEST_LINK and not self._final:
            return False
        if run.end() > LONGEST_LINK:
            self._record(run[0], dropped="not in the passages")
            self._endless = "address"
            return self._vanish(run.end())
        ascii_part = re.match(r"[!-~]*", run[0])
        address = addresses.trimmed(ascii_part[0] if ascii_part else "")
        if not beginning or len(address) <= len(beginning):
            self._record(run[0], dropped="not in the passages")
            return self._vanish(len(address) or 1)
        ends = _ENDS.match(self._held, len(address))
        if ends and self._addresses.owner(address).url == address and len(self.checks) < MOST_CHECKS:
            self._record(address, url=address)
            return self._take_address(address)
        return self._lead("", address, len(address))

    def _passage(self, index: int) -> Passage:
        if index not in self._ready:
            self._ready[index] = Passage(self.passages[index])
        return self._ready[index]

    def _url(self, index: int, sentence: str) -> str:
        url = addresses.safe(self.passages[index].url)
        fragment = self._passage(index).page.build_fragment(sentence) if sentence else ""
        return url + ("#" if fragment and "#" not in url else "") + fragment

    def _record(self, written: str, **what: str) -> None:
        if len(self.checks) < MOST_CHECKS:
            self.checks.append({"written": written[:_WRITTEN], **what})


def _closing(held: str) -> int | None:
    """Behind the bracket that closes the one at the beginning: -1 if there is none, None if that is not known yet.

    Code binds tighter than brackets; where code would begin that does not end in sight there is no label.
    """
    depth = at = 0
    while at < len(held):
        piece = _PIECE.match(held, at)
        if not piece:
            return None
        at = piece.end()
        if piece[0][0] == "`":
            size = len(piece[0])
            end = next((run.end() for run in RUN.finditer(held, at) if run[0] == "`" * size), 0)
            if not end or end == len(held):
                return None
            at = end
        elif piece[0] == "[":
            depth += 1
            if depth > _DEEPEST:
                return -1
        elif piece[0] == "]":
            depth -= 1
            if not depth:
                return at
    return None


def _plain(label: str) -> str:
    """The label of a link that stays, with nothing in it that could be another; empty where nothing is left to show.

    Numbers alone are for citations.
    """
    if re.fullmatch(r"`[^`|\n]+`", label):
        return label
    label = re.sub(r"!?\[([^\[\]]*)\](?:\([^()]*\))?", r"\1", label)
    label = " ".join(re.sub(r"[\[\]<>()\\`|&!~]", "", label).split())
    if "/" in label or "@" in label or "www." in label.lower() or label.isdigit():
        return ""
    return label


def _numbers(written: str) -> list[int]:
    """The numbers of a marker; `1-3` stands for three of them."""
    numbers: list[int] = []
    for number in re.finditer(r"(?:(\d+)\s*[–-]\s*)?(\d+)", written):
        first = int(number[1] or number[2])
        numbers += range(first, min(int(number[2]), first + 20) + 1)
    return numbers
