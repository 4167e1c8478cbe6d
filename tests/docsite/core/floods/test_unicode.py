"""Unicode is normalized as everywhere else, but in linear time, and in one place."""

import re
import sys
import unicodedata
from collections.abc import Iterator
from typing import get_args

import pytest
from django.template import engines
from django.utils.text import Truncator
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from docsite.core.tenants.validators import origin_of
from docsite.core.unicode import normalization
from docsite.core.unicode.addresses import MAX_HOST, urljoin, urlsplit
from docsite.core.unicode.normalization import MAX_LONG, MAX_MARKS, cap_marks, normalize
from tests.docsite.core.floods.test_linear_time import cpu_time
from tests.processes import ROOT, SERVICE

FORMS = get_args(normalization.Form)
MARKS = "\u0316\u0301"  # of two classes, so that they must be sorted

# The first article of the Declaration of Human Rights, and what else is written with marks and compatibility forms.
ORDINARY = {
    "English": "All human beings are born free and equal in dignity and rights – “reason” and conscience…",
    "Vietnamese": "Tất cả mọi người sinh ra đều được tự do và bình đẳng về nhân phẩm và quyền lợi.",
    "Hindi": "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता प्राप्त है।",
    "Thai": "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ ต่างมีเหตุผลและมโนธรรม",
    "Hebrew with points": "כָּל בְּנֵי אָדָם נוֹלְדוּ בְּנֵי חוֹרִין וְשָׁוִים בְּעֶרְכָּם וּבִזְכֻיּוֹתֵיהֶם",
    "Arabic with vowels": "يُولَدُ جَمِيعُ النَّاسِ أَحْرَارًا مُتَسَاوِينَ فِي الْكَرَامَةِ وَالْحُقُوقِ ﷺ",
    "Tibetan": "འགྲོ་བ་མིའི་རིགས་རྒྱུད་ཡོངས་ལ་སྐྱེས་ཙམ་ཉིད་ནས་ཆེ་མཐོངས་དང༌། ཱཱཱིྀུ",
    "Japanese": "すべての人間は、ｶﾞｷﾞｸﾞ、㌔㌘㍿、生れながらにして自由であり、",
    "Korean": "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다.",
    "Greek": "Ὅλοι οἱ ἄνθρωποι γεννιοῦνται ἐλεύθεροι καὶ ἴσοι, ᾧ",
    "signs": "½ ² ﬁ Ⅷ ⒈ ⑽ ™ ① ㎏ 😀👩‍💻 é",
    "Zalgo": f"Z{MARKS * (MAX_MARKS // 2)}a{MARKS * 3}l{MARKS * 7}go ",
}


def every_character() -> Iterator[str]:
    """All of Unicode, without halves of pairs."""
    return (chr(point) for point in range(sys.maxunicode + 1) if not 0xD800 <= point <= 0xDFFF)


def find_marks(text: str) -> list[int]:
    """The lengths of the runs of combining marks, as the standard counts them: one by one."""
    is_mark = [bool(unicodedata.combining(unicodedata.normalize("NFKD", character)[0])) for character in text]
    return [len(run) for run in "".join("m" if mark else " " for mark in is_mark).split()]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("language", ORDINARY)
def test_ordinary_text_is_normalized_as_everywhere_else(language, form):
    for text in (ORDINARY[language], unicodedata.normalize("NFD", ORDINARY[language])):
        if max(find_marks(text), default=0) > MAX_MARKS:
            continue  # Zalgo, decomposed
        for repeated in (text, text * 50):
            assert cap_marks(repeated) is repeated
            assert normalize(form, repeated) == unicodedata.normalize(form, repeated)


PIECES = [*"ab é가ﷺ\u0301\u0316\u0344\u0f73\uff9e\u093c", "\u0301" * 7, MARKS * 8, "\u0f73\u0f75" * 15, "\uff9e" * 29]


@pytest.mark.matrix
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # another process may stop it for a second
@given(st.lists(st.sampled_from(PIECES), max_size=20).map("".join))
def test_at_most_30_marks_stand_in_a_row(text):
    capped = cap_marks(text)
    runs = find_marks(text)
    assert find_marks(capped) == [min(run, MAX_MARKS) for run in runs]
    assert (capped == text) is (max(runs, default=0) <= MAX_MARKS)
    for form in FORMS:
        assert normalize(form, text) == unicodedata.normalize(form, capped)


@pytest.mark.parametrize("pair", ["\u0316\u0301", "\u0301\u0301", "\u0344\u0316", "\u0f73\u0f75", "\uff9e\uff9f"])
def test_a_long_run_is_cut_wherever_it_begins(pair):
    for before in range(2 * MAX_MARKS):
        for length in (MAX_MARKS + 1, 4 * MAX_MARKS):
            text = f"{'x' * before}{(pair * length)[:length]} y"
            assert cap_marks(text) == f"{'x' * before}{(pair * length)[:MAX_MARKS]} y"


@pytest.mark.matrix
def test_every_mark_of_this_python_is_known():
    for character in every_character():
        is_mark = bool(unicodedata.combining(unicodedata.normalize("NFKD", character)[0]))
        assert normalization._is_mark(character) is is_mark, f"{character!r}: add it to _MARKS_OF_CLASS_ZERO"


def test_every_long_compatibility_form_of_this_python_is_known():
    for character in every_character():
        is_long = len(unicodedata.normalize("NFKD", character)) > 4
        assert not is_long or normalization._LONG.match(character), f"{character!r}: add it to _LONG"


@pytest.mark.parametrize("form", ["NFKC", "NFKD"])
def test_a_text_grows_little(form):
    for character in "ﷺﷻ㌖㈝":
        for text in (character * 32_000, f"install {character}" * 4_000):
            assert len(normalize(form, text)) <= 4 * len(text)
            assert cpu_time(lambda text=text: normalize(form, text)) < 0.1
        few = f"How do I install {character * MAX_LONG}?"
        assert normalize(form, few) == unicodedata.normalize(form, few)
        assert normalize("NFC", character * 32_000) == character * 32_000


ADDRESSES = [
    "https://docs.example/a?b#c",
    "https://bücher.example/ü",
    "//é.example",
    "/é/" + "é" * 9_000,
    "mailto:é",
    "",
]
HOST = f"http://a{MARKS * 1_000_000}"


def test_addresses_are_split_as_everywhere_else():
    from urllib import parse

    for address in [*ADDRESSES, "http://" + "a" * 9_000, f"//{'é' * MAX_HOST}/"]:
        assert urlsplit(address) == parse.urlsplit(address)
        assert urljoin("https://docs.example/x/y", address) == parse.urljoin("https://docs.example/x/y", address)


@pytest.mark.parametrize(
    "address", [HOST, f"{HOST}/a", f"h\nttp:/\n/{HOST[7:]}", f" //{HOST[7:]}@b", f"//{'ﷺ' * 700_000}"]
)
def test_a_long_host_beyond_ascii_is_refused_at_once(address):
    def run() -> None:
        for split in (urlsplit, origin_of, lambda url: urljoin("https://docs.example", url)):
            with pytest.raises(ValueError, match="host"):
                split(address)

    assert cpu_time(run) < 1


def test_templates_cut_text_as_django_does():
    template = engines["django"].from_string("{{ text|truncatechars:20 }}")
    for text in ORDINARY.values():
        expected = engines["django"].from_string("{{ text }}").render({"text": Truncator(text).chars(20)})
        assert template.render({"text": text}) == expected
    text = f"<b>{MARKS * 250_000}"
    assert cpu_time(lambda: template.render({"text": text})) < 0.5
    assert template.render({"text": text}).startswith("&lt;b&gt;")


def test_nothing_else_normalizes():
    """The linter bans the functions; nobody lifts the ban, and no template has a filter that it does not see."""
    product = [file for folder in SERVICE for file in (ROOT / folder).rglob("*.py")]
    lifted = {file.parent.name for file in product if "TID251" in file.read_text()}
    assert lifted == {"unicode", "delivery"}, "the latter sends mail, which is banned elsewhere"
    for file in (ROOT / "templates").rglob("*.*"):
        assert not re.search(r"\|\s*(slugify|truncatechars_html)\b", file.read_text()), file
