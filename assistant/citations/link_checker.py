"""Checks the citations and links of a streamed answer, and turns citation markers into links.

A model cites a passage as `[2]`. If the passage can support the claim before the
marker, the marker becomes a link to the sentence that supports it best. A marker
that fails the check, and any link to an address that is not allowed, is removed:

    It takes a minute [2].        ->   It takes a minute [1](https://docs.example/install#:~:text=It%20takes).
    Bananas grow in Ecuador [2].  ->   Bananas grow in Ecuador.
    See [this](https://evil.example).   ->   See this.

Pages are numbered in the order in which the answer cites them.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from typing import Any

from assistant.citations import addresses, brackets, source_lists
from assistant.citations.addresses import AllowedAddresses
from assistant.citations.brackets import Definition, Link, Literal, Marker, Reference
from assistant.citations.evidence import Passage, extract_claim, find_numbers
from assistant.citations.passages import Passages
from assistant.citations.sanitizer import Sanitizer
from assistant.citations.stream_rewriter import MAX_LINK
from assistant.wire.events import Source
from search.hits import Hit

MAX_CHECKS = 200  # markers and links; an answer has fewer, so later ones are removed without a record
_MAX_WRITTEN = 100  # characters of the model's text in a record
_NOT_ALLOWED = "not in the passages"
_NO_IMAGES = "images are not shown"
_NO_DEFINITIONS = "links of the model's own are not defined"
_ANGLED = re.compile(r"<([a-z][a-z\d+.-]{1,31}:[^\s<>]*|[\w.+-]+@[\w.-]+)>", re.IGNORECASE)
_MAX_TITLE_WORDS = 6  # of a page behind its marker; more words say something
_NAME = re.compile(r"(?<![\w$.])[\w$.]++$")
_MAIL_HOST = re.compile(r"@[\w-]+(?:\.[\w-]+)+")
_MAIL_HOST_START = re.compile(r"@[\w.-]*")
_MAIL_NAME = re.compile(r"[\w.+-]{1,64}$")
_ADDRESS_END = re.compile(r"[?!.,:;*_~')]*(?=\s|$)")  # every renderer sees the end of an address here
_PERHAPS_ADDRESS_END = re.compile(r"[?!.,:;*_~')]*")


class CitationChecker(Sanitizer):
    """Checks one answer.

    `sources` has the cited pages. `checks` has a record for each marker, link, image and address that the model
    wrote: `written`, then `url` and perhaps `sentence` (the evidence) if it was kept, or `dropped`, the reason.
    Set `refused` when the model says that it has no answer: then nothing is cited. `shown` are the numbers of the
    passages that the model has seen, None for all. `selected` is what the reader has selected.
    """

    def __init__(
        self, passages: Sequence[Hit], question: str = "", allowed: Collection[str] = (), selected: str = ""
    ) -> None:
        super().__init__()
        self.passages = passages if isinstance(passages, Passages) else Passages(passages)
        self.question = question
        self.sources: list[Source] = []
        self.checks: list[dict[str, Any]] = []
        self.refused = False
        self.shown: set[int] | None = None
        self._selected = selected
        self._addresses = AllowedAddresses(self.passages, allowed)
        self._evidence: dict[int, Passage] = {}
        self._page_numbers: dict[str, int] = {}
        self._lookups = 0  # in all passages
        self._judged: dict[tuple[int, str], tuple[str, str]] = {}  # the latest claim, which markers in a row have
        self._link_addresses: dict[tuple[int, str], str] = {}

    def add_passages(self, passages: Sequence[Hit]) -> None:
        """Add passages, which the text from here on may cite. Their numbers follow those before."""
        self.passages.extend(passages)

    # ---- Citing. ----

    def cite(self, index: int, sentence: str = "") -> tuple[str, list[Source]]:
        """Build the Markdown link to a sentence of passage `index` (from 0), and the new source if there is one.

        Without a sentence the link leads to the section.
        """
        passage = self._passage(index).hit
        number = self._page_numbers.get(passage.path)
        new = []
        if number is None:
            number = self._page_numbers[passage.path] = len(self._page_numbers) + 1
            new = [Source(number, passage.url.partition("#")[0], passage.title)]
            self.sources += new
        found = self._passage(index).find_sentence(sentence) if sentence else ""
        return f"[{number}]({self._link_address(index, found)})", new

    def _cite_for_claim(self, index: int, written: str) -> str:
        """Build the link for the text just before. Empty, with a record, if the passage cannot support that text."""
        if len(self.checks) >= MAX_CHECKS:
            return ""
        if self.refused:
            self._record(written, dropped="the model says that it has no answer")
            return ""
        objection, sentence = self._judge_claim(index)
        if objection:
            self._record(written, dropped=objection)
            return ""
        link, new = self.cite(index, sentence)
        self._new_sources += new
        self._record(written, url=self._link_address(index, sentence), sentence=sentence)
        return link

    def _judge_claim(self, index: int) -> tuple[str, str]:
        """Why passage `index` cannot support the text just before, or the sentence that supports it best."""
        claim = extract_claim(self._claim) or self._claim_cells.strip()
        if (index, claim) not in self._judged:
            passage = self._passage(index)
            objection = passage.find_objection(claim, self._given_numbers)
            self._judged = {(index, claim): (objection, objection or passage.best_sentence(claim, self.question))}
        return self._judged[index, claim]

    @cached_property
    def _given_numbers(self) -> set[str]:
        """The numbers that the reader wrote or selected."""
        return find_numbers(f"{self.question} {self._selected}")

    def _is_shown(self, number: int) -> bool:
        return 1 <= number <= len(self.passages) and (self.shown is None or number in self.shown)

    def _passage(self, index: int) -> Passage:
        if index not in self._evidence:
            self._evidence[index] = Passage(self.passages[index])
        return self._evidence[index]

    def _link_address(self, index: int, sentence: str) -> str:
        """The address of a passage with the fragment of a sentence. Cached, since an answer cites a sentence often."""
        if (index, sentence) not in self._link_addresses:
            url = addresses.escape_for_link(self._passage(index).hit.url)
            fragment = self._passage(index).page.build_fragment(sentence) if sentence else ""
            self._link_addresses[index, sentence] = url + ("#" if fragment and "#" not in url else "") + fragment
        return self._link_addresses[index, sentence]

    def _record(self, written: str, **result: str) -> None:
        if len(self.checks) < MAX_CHECKS:
            self.checks.append({"written": written[:_MAX_WRITTEN], **result})

    # ---- Markers, links and images. ----

    def _reset(self) -> None:
        super()._reset()
        self._in_source_list = False

    def _start_line(self) -> bool:
        """Leave out a list of sources that only repeats what the answer cites."""
        if not self.sources or self._state_above.fence:
            return super()._start_line()
        if not self._in_source_list:
            size = source_lists.find_heading(self._pending, self._is_final)
            if size is None:
                return False
            if not size:
                return super()._start_line()
            self._in_source_list = True
            self._pending = self._pending[size:]
            return True
        line, newline, rest = self._pending.partition("\n")
        if not newline and not self._is_final and len(line) <= MAX_LINK:
            return False
        if not source_lists.is_item(line):
            self._in_source_list = False
            return super()._start_line()
        if line.strip():
            self._record(line, dropped=_NO_DEFINITIONS)
        self._pending = rest
        return True

    def _square(self) -> bool:
        return self._decide_bracket(is_image=False)

    def _bang(self) -> bool:
        follower = self._pending[1:2]
        if not follower:
            return self._accept("!") if self._is_final else False
        if follower != "[":
            return self._accept("!")
        return self._decide_bracket(is_image=True)

    def _decide_bracket(self, is_image: bool) -> bool:
        text, newline, _ = self._pending[int(is_image) : MAX_LINK].partition("\n")
        bracket = brackets.parse(
            text,
            is_complete=self._is_final or len(self._pending) >= MAX_LINK or bool(newline),
            is_image=is_image,
            may_define=not is_image and not self._is_line_begun and bool(self._line and not self._line.continues),
            may_refer=not self._preceding[-1:].isalnum(),
        )
        if bracket is None:
            return False
        if isinstance(bracket, Literal) or (is_image and isinstance(bracket, Marker)):
            return self._accept("!", "\\!") if is_image else self._accept("[", "[")
        if isinstance(bracket, Marker):
            if bracket.size <= len(text) and self._is_numbers(bracket, text):
                return self._accept("[")
            return self._decide_marker(bracket)
        if isinstance(bracket, Definition):
            marker = bracket.marker
            is_sentence = len(text.split()) > _MAX_TITLE_WORDS
            # Without other citations it is the only place where the answer says what it is from.
            if marker and (is_sentence or not self.sources) and any(map(self._is_shown, marker.numbers)):
                return self._decide_marker(marker)
            self._record(text, dropped=_NO_DEFINITIONS)
            return self._remove(bracket.size)
        bang = "!" * is_image
        if isinstance(bracket, Reference):
            self._record(bang + text[: bracket.written_size], dropped=_NO_IMAGES if is_image else _NO_DEFINITIONS)
            return self._replace_by_label(bracket.label, len(bang) + bracket.size)
        if is_image:
            self._record(bang + text[: bracket.size], dropped=_NO_IMAGES)
            return self._replace_by_label(bracket.label, len(bang) + bracket.size)
        return self._decide_link(bracket)

    def _other_marker(self) -> bool:
        bracket = brackets.parse_other(self._pending, self._is_final)
        if bracket is None:
            return False
        return self._accept(self._pending[0]) if isinstance(bracket, Literal) else self._decide_marker(bracket)

    def _backslash(self) -> bool:
        """Read `\\[2\\]` as a marker, and anything else as an escape."""
        bracket = brackets.parse_other(self._pending, self._is_final)
        if bracket is None:
            return False
        return super()._backslash() if isinstance(bracket, Literal) else self._decide_marker(bracket)

    def _round(self) -> bool:
        """Read `(passage 2)` as a marker, and `(2)` if it ends a clause that the passage supports."""
        bracket = brackets.parse_other(self._pending, self._is_final)
        if bracket is None:
            return False
        if isinstance(bracket, Literal) or self._preceding[-1:].isalnum() or self._preceding.endswith("]"):
            return super()._round()
        if self._pending[1].isdigit():
            follower = self._pending[bracket.size : bracket.size + 1]
            if not follower and not self._is_final:
                return False
            if follower.strip(".!?\n") or not self._claim.strip() or not self._is_line_begun:
                return super()._round()
            if not self._is_shown(number := bracket.numbers[0]) or self._judge_claim(number - 1)[0]:
                return super()._round()
            if self._stands_in_passages(" ".join([*self._preceding.split()[-1:], self._pending[: bracket.size]])):
                return super()._round()
        return self._decide_marker(bracket)

    def _is_numbers(self, marker: Marker, text: str) -> bool:
        """Whether the numbers in square brackets are part of the answer's text, such as a list of the passages."""
        written, before = text[: marker.size], self._preceding
        if brackets.are_numbers(written, before, text[marker.size : marker.size + 1]):
            return True
        name = _NAME.search(before)
        if len(marker.numbers) > 1 and not name:
            return not any(map(self._is_shown, marker.numbers)) or self._stands_in_passages(written)
        return bool(name) and self._stands_in_passages(f"{name[0] if name else ''}{written}")

    def _stands_in_passages(self, text: str) -> bool:
        self._lookups += 1
        return self._lookups <= MAX_CHECKS and any(text in hit.body for hit in self.passages)

    def _decide_marker(self, marker: Marker) -> bool:
        """Replace a marker by links to the passages that can support the claim before it; remove it without any."""
        written = self._pending[: marker.size]
        links = list(self._cite_numbers(marker.numbers, written))
        if not links:
            return self._remove(marker.size)
        self._pending = self._pending[marker.size :]
        self._insert_link(" ".join(dict.fromkeys(links)))
        return True

    def _cite_numbers(self, numbers: Iterable[int], written: str) -> Iterable[str]:
        for number in dict.fromkeys(numbers):
            if not self._is_shown(number):
                self._record(written, dropped="no such passage")
            elif link := self._cite_for_claim(number - 1, written):
                yield link

    def _decide_link(self, link: Link) -> bool:
        """Decide about a link, or an address without a label: cite its page, keep it, or keep only the label."""
        written = self._pending[: link.size]
        match = self._addresses.look_up(link.address)
        if match.passages:
            passages = [*self.passages]
            index = next((i for i in match.passages if passages[i].url == link.address), match.passages[0])
            if link.label:  # read again as the label and a marker
                self._pending = f"{link.label} [{index + 1}]{self._pending[link.size :]}"
                return self._rescan_line()
            if citation := self._cite_for_claim(index, written):
                self._pending = self._pending[link.size :]
                self._insert_link(citation)
                return True
            return self._remove(link.size)
        if match.url and len(self.checks) < MAX_CHECKS:
            self._record(written, url=match.url)
            self._pending = self._pending[link.size :]
            url = addresses.escape_for_link(match.url)
            label = brackets.plain_label(link.label)
            self._insert_link(f"[{label}]({url})" if label else f"<{url}>")
            return True
        if not link.label and addresses.is_private(link.address):
            return self._write_as_code(link.address, link.size)
        self._record(written, dropped=_NOT_ALLOWED)
        return self._replace_by_label(link.label, link.size)

    def _write_as_code(self, address: str, size: int) -> bool:
        """Write an address that no reader may follow as code, in place of the next `size` characters."""
        self._keep_apart("`")
        self._pending = self._pending[size:]
        self._flush_blanks()
        self._write(f"`{address}`")
        self._claim += f"`{address}`"
        return True

    # ---- Addresses without brackets. ----

    def _angle(self) -> bool:
        """Decide about `<https://…>` and `<me@…>`; any other `<` is escaped where it could begin a tag."""
        follower = self._pending[1:2]
        if not follower:
            return self._accept("<") if self._is_final else False
        if follower in " \t\n=-" or follower.isdigit():
            return self._accept("<")
        text = self._pending[: MAX_LINK + 1]
        if found := _ANGLED.match(text):
            return self._decide_link(Link("", found[1], found.end()))
        if not self._is_final and len(text) <= MAX_LINK and not re.search(r"[\s<>]", text[1:]):
            return False
        return self._accept("<", "\\<")

    def _at(self) -> bool:
        """Decide about the mail address whose name is already written."""
        start = _MAIL_HOST_START.match(self._pending)
        assert start
        if start.end() == len(self._pending) <= MAX_LINK and not self._is_final:
            return False
        host = _MAIL_HOST.match(self._pending)
        name = _MAIL_NAME.search(self._preceding)
        if not host or not name:
            return self._accept("@")
        written = name[0] + host[0]
        if self._addresses.look_up(written).url:
            if not self._is_final and _PERHAPS_ADDRESS_END.fullmatch(self._pending, host.end()):
                return False
            if _ADDRESS_END.match(self._pending, host.end()):
                self._record(written, url=f"mailto:{written}")
                return self._accept_address(host[0])
        self._record(written, dropped=_NOT_ALLOWED)
        return self._remove(host.end())

    def _address(self, prefix: str) -> bool:
        characters = addresses.CHARACTERS.match(self._pending)
        assert characters
        if characters.end() == len(self._pending) <= MAX_LINK and not self._is_final:
            return False
        if characters.end() > MAX_LINK:
            self._record(characters[0], dropped=_NOT_ALLOWED)
            self._overlong = "address"
            return self._remove(characters.end())
        ascii_start = re.match(r"[!-~]*", characters[0])
        address = addresses.trim(ascii_start[0] if ascii_start else "")
        if prefix.endswith("://") and len(address) <= len(prefix):
            return self._write_as_code(prefix, len(prefix))
        if not prefix or len(address) <= len(prefix):
            self._record(characters[0], dropped=_NOT_ALLOWED)
            return self._remove(len(address) or 1)
        is_whole = _ADDRESS_END.match(self._pending, len(address))
        if is_whole and self._addresses.look_up(address).url == address and len(self.checks) < MAX_CHECKS:
            self._record(address, url=address)
            return self._accept_address(address)
        return self._decide_link(Link("", address, len(address)))
