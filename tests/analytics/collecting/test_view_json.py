"""The two parsers of a batch of views: whatever the quick one accepts, the usual one reads the same."""

import json

import pytest

from analytics.api.schemas import CollectIn, validate_views
from analytics.api.view_json import ViewJson
from docsite.core.http import body
from docsite.core.http.errors import BadRequest
from tests.analytics.conftest import NOON

VIEW = {"id": "a", "path": "/a", "timestamp": NOON.isoformat(), "ip": "198.51.100.1", "userAgent": "x"}


def encode(*views: object, **fields: object) -> bytes:
    return json.dumps({"views": views, **fields}, ensure_ascii=False).encode()


def outcome(parse, raw):
    """The views of a body, or what is said about its mistakes."""
    try:
        return validate_views(parse(raw))
    except BadRequest as error:
        return error.details


def parse_usually(raw: bytes) -> CollectIn:
    return body.validate(CollectIn, body.parse_object(raw))


FINE = [
    encode(VIEW),
    encode(*[VIEW] * 1000),
    b" \n" + encode(VIEW) + b"\t",
    encode({**VIEW, "accept": None, "referrer": "https://a.example/?b=c"}),
    encode({**VIEW, "id": "\U0001f600" * 64, "path": "ä" * 2000, "userAgent": "", "accept": "é" * 2000}),
    encode({**VIEW, "timestamp": "2026-11-01"}, {**VIEW, "timestamp": "2026-11-01t12:00:00,5+02:00"}),
    encode({**VIEW, "ip": " ::ffff:198.51.100.7 "}, {**VIEW, "ip": "[2001:db8::1]"}),
]
LEFT_TO_THE_USUAL_PARSER = [
    encode({**VIEW, "more": {"deep": [1]}}),
    encode(VIEW, more=1),
    b"\xef\xbb\xbf" + encode(VIEW),
    json.dumps({"views": [{**VIEW, "path": "/ä"}]}).encode(),
    b'{"views": [], ' + encode(VIEW)[1:],
    b'{"views": [5], ' + encode(VIEW)[1:],
]
WRONG = [
    encode(),
    encode(*[VIEW] * 1001),
    encode("x", VIEW),
    b"[]",
    b'{"views": {}}',
    b"{}",
    encode(VIEW)[:-1],
    encode(VIEW) + b"x",
    encode(VIEW).replace(b"/a", b"/\xff"),
    encode(VIEW).replace(b"/a", b"/\xed\xa0\x80"),
    encode(VIEW).replace(b"/a", b"/\\u0000"),
    encode(VIEW).replace(b"/a", b"/\\ud800"),
    encode(VIEW).replace(b"/a", b"/\x00"),
    encode(VIEW, more=0).replace(b"0}", b"NaN}"),
    encode({**VIEW, "id": "x" * 65}, {**VIEW, "path": ""}, {**VIEW, "timestamp": "tomorrow"}),
    encode(VIEW, {**VIEW, "timestamp": "2999-01-01"}, {**VIEW, "ip": "198.51.100.256"}),
    encode({**VIEW, "timestamp": "1999-12-31T23:59:59Z"}, {**VIEW, "ip": ""}),
    encode({**VIEW, "timestamp": 5, "ip": 5, "userAgent": None}),
    encode({name: value for name, value in VIEW.items() if name != "ip"}),
]


@pytest.mark.parametrize("raw", [*FINE, *LEFT_TO_THE_USUAL_PARSER, *WRONG])
def test_both_parsers_agree_on_a_batch(raw):
    assert outcome(lambda raw: body.parse(CollectIn, raw), raw) == outcome(parse_usually, raw)


@pytest.mark.parametrize("raw", FINE)
def test_valid_views_take_the_quick_parser(raw):
    assert isinstance(body.parse(CollectIn, raw).views[0], ViewJson)
    assert outcome(parse_usually, raw)[0].raw_path


@pytest.mark.parametrize("raw", WRONG)
def test_every_mistake_is_named(raw):
    assert isinstance(outcome(lambda raw: body.parse(CollectIn, raw), raw), (list, tuple))
    with pytest.raises(BadRequest):
        validate_views(body.parse(CollectIn, raw))
