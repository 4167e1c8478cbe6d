"""The forms of REDIS_URL."""

import pytest
from pydantic import ValidationError

from docsite.core.redis_servers.address import Servers, parse
from docsite.env import Env


@pytest.mark.parametrize(
    ("url", "servers"),
    [
        ("redis://127.0.0.1:6379/0", None),
        ("unix:///run/redis.sock", None),
        (
            "redis+cluster://u:p%40ss@one:7000,two,[::1]:7002",
            Servers([("one", 7000), ("two", 6379), ("::1", 7002)], options={"username": "u", "password": "p@ss"}),
        ),
        (
            "rediss+sentinel://:secret@one,two:5000/main/3?sentinel_password=other",
            Servers(
                [("one", 26379), ("two", 5000)],
                "main",
                {"username": None, "password": "secret", "ssl": True, "db": 3},
                {"ssl": True, "password": "other"},
            ),
        ),
    ],
)
def test_an_address_names_servers(url, servers):
    assert parse(url) == servers


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://one", "begin with"),
        ("redis+cluster://", "is wrong"),
        ("redis+cluster://user:sec/ret@one", "is wrong"),
        ("redis+cluster://one/1", "no numbered databases"),
        ("redis+sentinel://one", "with the name"),
        ("redis+sentinel://one/main/x", "with the name"),
        ("redis://one:port", "the port must be a number"),
    ],
)
def test_a_wrong_one_is_refused_with_a_sentence(url, words):
    with pytest.raises(ValidationError, match=words):
        Env(redis_url=url)


def test_no_part_of_a_password_is_told():
    with pytest.raises(ValueError, match="% codes") as failure:
        parse("redis+sentinel://user:ab[secret]cd@one:26379/NAME/0")
    assert "secret" not in str(failure.value)
