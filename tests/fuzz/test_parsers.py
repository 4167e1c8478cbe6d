"""The parsers of requests with generated input: each returns what it promises, or refuses as it promises."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from ipaddress import ip_address
from random import Random
from typing import TypeVar

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from analytics.api.question_schemas import ConversationsQuery, SearchesQuery
from analytics.api.schemas import CollectIn, RangeQuery, ViewIn, validate_views
from analytics.feedback.schemas import FeedbackByPageQuery, FeedbackIn, FeedbackQuery
from assistant.asking.schemas import MAX_PASSAGES, MAX_TEXT, MAX_TURNS, Ask, AskV2, Forget, MessageIn, Resume, Stop
from docsite.core import paths
from docsite.core.access.authentication import Caller
from docsite.core.http import client_address, cursor, dates
from docsite.core.http.body import MAX_DEPTH, parse_object
from docsite.core.http.cursor import Cursor
from docsite.core.http.errors import BadRequest
from docsite.core.http.schemas import describe_errors
from docsite.core.tenants.models import Project
from search.schemas import ClickIn, PageIn, SearchIn
from tests.fuzz import mutations
from tests.fuzz.conftest import EXAMPLES
from tests.variants import first_of

settings.register_profile(
    "parsers",
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=EXAMPLES,
    suppress_health_check=list(HealthCheck),
)
settings.load_profile("parsers")

BODIES = [SearchIn, ClickIn, PageIn, ViewIn, CollectIn, FeedbackIn, Ask, AskV2, Forget, Stop, Resume]
QUERIES = [RangeQuery, SearchesQuery, ConversationsQuery, FeedbackQuery, FeedbackByPageQuery]
INSTANTS = st.datetimes(
    min_value=datetime(1, 1, 3), max_value=datetime(9999, 12, 29), timezones=st.timezones() | st.just(UTC)
)
TEXTS = st.text(max_size=60) | st.sampled_from([value for value in mutations.VALUES if isinstance(value, str)])
CLEAN_TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | CLEAN_TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(CLEAN_TEXTS, inner, max_size=4),
    max_leaves=15,
)


def refusal(model: type[BaseModel], value: object) -> list[str]:
    """The details of the error for a value; empty if it is valid."""
    try:
        model.model_validate(value)
    except ValidationError as error:
        return describe_errors(error.errors())
    return []


Result = TypeVar("Result")
Refusal = TypeVar("Refusal", bound=Exception)


def attempt(
    refusals: type[Refusal], function: Callable[..., Result], *arguments: object
) -> tuple[Result | None, Refusal | None]:
    """What a function returns, or the refusal that it raises. Any other exception fails the test."""
    try:
        return function(*arguments), None
    except refusals as error:
        return None, error


# Bodies


@pytest.mark.matrix
@given(st.dictionaries(CLEAN_TEXTS, JSON, max_size=5))
def test_every_json_object_is_read_as_it_is(value):
    assert parse_object(json.dumps(value).encode()) == value
    assert parse_object(b"\xef\xbb\xbf" + json.dumps(value, ensure_ascii=False).encode()) == value


CHANGED_BODIES = st.builds(lambda seed: mutations.mutate_bytes(Random(seed), b'{"a": [1, "b"]}'), st.integers())


@pytest.mark.matrix
@given(st.binary(max_size=200) | CHANGED_BODIES)
def test_any_bytes_are_an_object_or_refused(raw):
    value, refused = attempt(BadRequest, parse_object, raw)
    if refused:
        assert all(detail.isprintable() and len(detail) < 200 for detail in refused.details)
    else:
        assert isinstance(value, dict)
        json.dumps(value, ensure_ascii=False).encode()  # raises where it holds half of a surrogate pair


@given(st.text(st.sampled_from("ab\0\ud800\udc00\udfff\u20ac"), max_size=5), st.booleans())
def test_text_that_no_database_can_hold_is_refused(text, is_key):
    raw = json.dumps({"a": [{text: 1} if is_key else text]}).encode()
    read = json.loads(json.dumps(text))  # which joins the halves of a pair
    _, refused = attempt(BadRequest, parse_object, raw)
    assert (refused is not None) is any(character == "\0" or "\ud800" <= character <= "\udfff" for character in read)


@given(st.integers(1, 200), st.sampled_from(["[]", "{}"]))
def test_the_depth_is_counted_exactly(depth, kind):
    opening, closing = ('{"a":', "}") if kind == "{}" else ("[", "]")
    raw = '{"a":' + opening * (depth - 1) + "1" + closing * (depth - 1) + "}"
    _, refused = attempt(BadRequest, parse_object, raw.encode())
    assert (refused is not None) is (depth > MAX_DEPTH)


# Fields and query parameters


@pytest.mark.parametrize("model", first_of(BODIES, 2))
@given(data=st.data())
def test_a_body_is_valid_or_its_fields_are_named(model, data):
    examples = (model.model_json_schema().get("examples") or [{"fp": "x", "threadId": "x", "messageId": "x"}])[0]
    value = mutations.mutate_value(Random(data.draw(st.integers(0, 10**6))), {**examples, "context": [{"value": "x"}]})
    for detail in refusal(model, value):
        name, _, wrong = detail.partition(": ")
        assert name
        assert wrong
        assert len(detail) < 320
        detail.encode()


@pytest.mark.matrix
@pytest.mark.parametrize("model", first_of(QUERIES, 1))
@given(data=st.data())
def test_a_query_is_valid_or_its_parameters_are_named(model, data):
    names = st.sampled_from(sorted(model.model_fields))
    query = data.draw(st.dictionaries(names, TEXTS | st.lists(TEXTS, min_size=2, max_size=3), max_size=4))
    details = refusal(model, query)
    assert {detail.partition(":")[0].partition(".")[0] for detail in details} <= set(query)
    assert {name for name, value in query.items() if isinstance(value, list)} <= {
        detail.partition(":")[0].partition(".")[0] for detail in details
    }


@pytest.mark.matrix
@given(TEXTS | st.integers(-5, 2**60).map(str) | st.text("12 _+-.e٣５", max_size=3))
def test_a_limit_is_in_its_range(text):
    if not refusal(RangeQuery, {"limit": text}):
        assert text.isascii()
        assert text.isdigit()
        assert 1 <= int(text) <= 250
    else:
        assert not (text.isascii() and text.isdigit() and 1 <= int(text) <= 250) or len(text) > 16


CHANGED_VIEWS = st.builds(lambda seed: mutations.mutate_value(Random(seed), {"id": "1", "path": "/"}), st.integers())


@given(st.lists(CHANGED_VIEWS, max_size=3))
def test_views_are_valid_or_their_index_is_named(views):
    _, refused = attempt(BadRequest, validate_views, CollectIn.model_construct(views=views))
    assert refused is None or all(detail.startswith("views") for detail in refused.details)


# Dates


@pytest.mark.matrix
@given(INSTANTS)
def test_every_date_time_is_read_as_its_instant(instant):
    offset = instant.utcoffset() or timedelta()
    assume(offset.total_seconds() % 60 == 0)  # ISO 8601 has no seconds there
    instant = instant.replace(tzinfo=timezone(offset))
    assert dates.parse(instant.isoformat()) == instant
    assert dates.parse(instant.date().isoformat()) == datetime.combine(instant.date(), datetime.min.time(), UTC)


@given(TEXTS | st.from_regex(r"\A[0-9]{4}-[0-9]{2}-[0-9]{2}([Tt][0-9]{2}:[0-9]{2}([+-][0-9]{2}:?[0-9]{2}|Z)?)?\Z"))
def test_any_text_is_an_instant_in_utc_or_refused(text):
    instant, refused = attempt(ValueError, dates.parse, text)
    if instant is None:
        assert str(refused).startswith(("must be", "is not"))
    else:
        assert instant.utcoffset() == timedelta()


@given(st.none() | INSTANTS, st.none() | INSTANTS, INSTANTS)
def test_a_range_never_ends_before_it_begins(start, end, now):
    window, _ = attempt(ValueError, dates.window, start, end, now)
    assert (window is None) is (start is not None and end is not None and start >= end)
    assert window is None or window[0] <= window[1]


# Cursors, addresses, paths


@given(CLEAN_TEXTS, INSTANTS, INSTANTS, st.lists(st.integers() | CLEAN_TEXTS, max_size=3))
def test_a_cursor_comes_back_as_it_was(name, start, end, place):
    made = Cursor(name, start.astimezone(UTC), end.astimezone(UTC), place)
    assert cursor.parse(str(made)) == made


@given(TEXTS, st.integers(0, 80), st.characters())
def test_a_forged_cursor_is_refused(text, where, character):
    made = str(Cursor("list", datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC), [1]))
    changed = made[:where] + character + made[where + 1 :]
    for forged in {text, changed} - {made}:
        with pytest.raises(ValueError, match="was not issued"):
            cursor.parse(forged)


@given(st.ip_addresses(), st.sampled_from(["{}", " {} ", "[{}]"]))
def test_every_address_is_read(address, form):
    assert client_address.parse_address(form.format(address)) == (getattr(address, "ipv4_mapped", None) or address)


@given(TEXTS | st.from_regex(r"\A[0-9a-fx.:%\[\]]{0,40}\Z"))
def test_any_text_is_an_address_or_none(text):
    address = client_address.parse_address(text)
    assert address is None or ip_address(str(address)) == address
    assert client_address.resolve(text, f"{text},{text}") is not None


@given(TEXTS, st.sampled_from(["https://docs.example.com", "https://docs.example.com/docs/"]))
def test_every_path_becomes_one_that_can_be_stored(raw, docs_url):
    for path in (paths.normalize(raw), Project(docs_url=docs_url).path_of(raw)):
        assert path.startswith("/")
        assert len(path) <= paths.MAX_LENGTH
        assert path == "/" or not path.endswith("/")
        assert "\0" not in path
        path.encode()


# Parts of messages

PARTS = st.lists(
    st.fixed_dictionaries(
        {"type": st.sampled_from(["text", "file", "tool-search", ""])}, optional={"text": TEXTS | JSON, "url": JSON}
    ),
    max_size=4,
)


@given(st.none() | TEXTS, st.none() | PARTS)
def test_the_text_of_a_message_is_its_content_else_its_text_parts(content, parts):
    message = MessageIn.model_validate({"role": "user", "content": content, "parts": parts, "id": 1})
    texts = [part.get("text", "") for part in parts or [] if part["type"] == "text"]
    from_parts = "".join(text for text in texts if isinstance(text, str))
    assert message.text == (content if content and content.strip() else from_parts)


@given(st.lists(st.tuples(st.sampled_from(["user", "assistant", "system", "tool", "x"]), TEXTS), max_size=60), TEXTS)
def test_a_question_has_a_bounded_history_of_readers_and_answers(turns, last):
    assume(last.strip())
    messages = [{"role": role, "content": text} for role, text in [*turns, ("user", last)]]
    caller = Caller(key=None, project=Project(), address=ip_address("192.0.2.1"))
    payload = Ask.model_validate({"fp": "x", "messages": messages, "retrievalPageSize": 10**9})
    question = payload.to_question(caller, "", "web")
    assert question.text == last.strip()
    assert question.page_size == MAX_PASSAGES
    assert len(question.client_history) <= MAX_TURNS
    assert {turn.role for turn in question.client_history} <= {"user", "assistant"}
    assert all(turn.text.strip() and len(turn.text) <= MAX_TEXT for turn in question.client_history)
