"""Ids, paths, addresses, settings."""

import ipaddress
import itertools
import secrets

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError

from assistant.asking.rate_limits import ASSISTANT_ORG
from docsite.core import ids
from docsite.core.http import body, client_address, open_sockets, ratelimit, schemas
from docsite.core.http.errors import BadRequest, TooMany, Unavailable
from docsite.core.paths import normalize
from docsite.core.tenants.models import Project
from docsite.core.tenants.validators import origin_of
from search.limits import SEARCH_ORG
from tests import scenarios
from tests.variants import first_of


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        ("", "/"),
        ("/", "/"),
        ("index.md", "/"),
        ("/index.html", "/"),
        ("a/b", "/a/b"),
        ("/a/b/", "/a/b"),
        ("//a///b//", "/a/b"),
        ("/a/b.md", "/a/b"),
        ("/a/b.html?x=1#y", "/a/b"),
        ("/a/index", "/a"),
        ("/a/index.md", "/a"),
        ("/a/index/b", "/a/index/b"),
        ("/a%20b/%C3%BC", "/a b/ü"),
        ("/cafe%CC%81", "/caf\u00e9"),
        ("/cafe\u0301", "/caf\u00e9"),
        ("https://docs.example.com:8443/a/b?x#y", "/a/b"),
        ("https://docs.example.com", "/"),
        ("/a\r\nb\x00", "/ab"),
        ("/v1.2/notes", "/v1.2/notes"),
        ("/md", "/md"),
        ("/x.markdown", "/x"),
        ("/" + "x" * 1000, "/" + "x" * 399),
    ],
)
def test_a_path_has_one_spelling(raw, path):
    assert normalize(raw) == path
    assert normalize(path) == path


@pytest.mark.parametrize(
    ("docs_url", "raw", "path"),
    [
        ("https://acme.example", "/docs/a", "/docs/a"),
        ("https://acme.example/docs/", "/docs/a.md?x", "/a"),
        ("https://acme.example/docs", "https://acme.example/docs", "/"),
        ("https://acme.example/docs", "/docs/docs/a", "/docs/a"),
        ("https://acme.example/docs", "/docsy", "/docsy"),
        ("https://acme.example/docs", "/a", "/a"),
        ("https://acme.example/d%C3%B6cs", "/d%C3%B6cs/a", "/a"),
    ],
)
def test_path_of_reverses_url_of(docs_url, raw, path):
    assert Project(docs_url=docs_url).path_of(raw) == path
    project = Project(docs_url=docs_url)
    assert project.path_of(project.url_of(path)) == path


def test_a_long_address_has_a_path_and_is_not_remembered():
    from docsite.core.tenants.models import projects

    project = projects.Project(docs_url="https://docs.example/guide")
    before = projects._path_of.cache_info().currsize
    assert project.path_of(f"https://docs.example/guide/a?{'b' * 1_000}") == "/a"
    assert len(project.path_of("/a" * 500_000)) == 400
    assert projects._path_of.cache_info().currsize == before


def test_a_token_ends_in_its_checksum():
    token = ids.token("svc_dsc_")
    assert ids.is_token(token)
    assert len(token) == len("svc_dsc_") + 34
    assert not ids.is_token(token[:-1] + ("a" if token[-1] != "a" else "b"))
    assert not ids.is_token("svc_" + token.removeprefix("svc_dsc_"))


def test_a_thread_id_has_26_characters_of_base32():
    thread_ids = {ids.thread_id() for _ in range(100)}
    assert len(thread_ids) == 100
    assert all(len(one) == 30 and set(one[4:]) <= set("abcdefghijklmnopqrstuvwxyz234567") for one in thread_ids)


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("https://Docs.Example.com/a?b", "https://docs.example.com"),
        ("https://docs.example.com:443", "https://docs.example.com"),
        ("http://docs.example.com:8080/", "http://docs.example.com:8080"),
        ("http://[::1]:3000", "http://[::1]:3000"),
    ],
)
def test_an_origin_is_scheme_host_and_port(url, origin):
    assert origin_of(url) == origin


@pytest.mark.parametrize(
    ("peer", "forwarded", "address"),
    [
        ("203.0.113.9", "198.51.100.1", "203.0.113.9"),
        ("10.0.0.1", "198.51.100.1", "198.51.100.1"),
        ("10.0.0.1", "6.6.6.6, 198.51.100.1, 10.0.0.2", "198.51.100.1"),
        ("10.0.0.1", "", "10.0.0.1"),
        ("10.0.0.1", "198.51.100.1:61002", "198.51.100.1"),
        ("10.0.0.1", "6.6.6.6, 198.51.100.1:61002, 10.0.0.2:443", "198.51.100.1"),
        ("10.0.0.1", "[2001:db8::1]:61002", "2001:db8::1"),
        ("10.0.0.1", "[2001:db8::1]", "2001:db8::1"),
        ("10.0.0.1", '"[2001:db8::1]:61002"', "2001:db8::1"),
        ("10.0.0.1", '"198.51.100.1"', "198.51.100.1"),
        ("10.0.0.1", '" 198.51.100.1:80 "', "198.51.100.1"),
        ("10.0.0.1", "198.51.100.1:_port", "198.51.100.1"),
        ("10.0.0.1", "198.51.100.1:61002,", "198.51.100.1"),
        ("10.0.0.1", "198.51.100.1 , ,\t", "198.51.100.1"),
        ("10.0.0.1", "fe80::1%eth0", "fe80::1"),
        ("10.0.0.1", "[fe80::1%25eth0]:61002", "fe80::1"),
        ("10.0.0.1", "[::ffff:198.51.100.1]:61002", "198.51.100.1"),
        ("10.0.0.1", " , ", "10.0.0.1"),
        ("::ffff:10.0.0.1", "::ffff:198.51.100.1", "198.51.100.1"),
        ("not an address", "", "0.0.0.0"),
    ],
)
def test_the_client_is_the_last_hop_that_is_no_trusted_proxy(settings, peer, forwarded, address):
    settings.ENV = settings.ENV.model_copy(update={"trusted_proxies": ("10.0.0.0/8",)})
    assert str(client_address.resolve(peer, forwarded)) == address


@pytest.mark.parametrize(
    "forwarded",
    [
        *("nonsense", "unknown", '"unknown"', "_hidden", "_hidden:_port", "unix:", "198.51.100.1:port", "[2001:db8::1"),
        *(
            "198.51.100.1 8080",
            "2001:db8::1:61002:x",
            "reader.example",
            "198.51.100.1, unknown",
            "6.6.6.6, _a, 10.0.0.2",
        ),
        *("198.51.100.1;61002", "for=198.51.100.1"),
    ],
)
def test_a_client_that_is_no_address_is_nobody_and_has_the_limits_of_its_proxy(
    settings, caplog, monkeypatch, forwarded
):
    settings.ENV = settings.ENV.model_copy(update={"trusted_proxies": ("10.0.0.0/8",)})
    monkeypatch.setattr(client_address, "_warned_at", float("-inf"))
    for _ in range(3):
        assert client_address.find_client("10.0.0.1", forwarded) is None
        assert str(client_address.resolve("10.0.0.1", forwarded)) == "10.0.0.1"
    (line,) = [record.getMessage() for record in caplog.records]
    assert "from 10.0.0.1" in line
    assert "198.51" not in line, "the log has no addresses of readers"
    assert client_address.found_unreadable()
    assert str(client_address.find_client("203.0.113.9", forwarded)) == "203.0.113.9", "of a stranger nothing is read"


def test_a_header_in_two_lines_is_read_from_the_last_one(settings):
    """HAProxy adds a line of its own."""
    settings.ENV = settings.ENV.model_copy(update={"trusted_proxies": ("10.0.0.0/8",)})
    headers = [(b"x-forwarded-for", b"6.6.6.6"), (b"x-forwarded-for", b"198.51.100.1")]
    _, network = open_sockets.client_network({"client": ("10.0.0.1", 1), "headers": headers})
    assert network == "198.51.100.1"


def test_ipv6_clients_are_one_by_their_64_network():
    one, two = ipaddress.ip_address("2001:db8:1:2::1"), ipaddress.ip_address("2001:db8:1:2:ffff::9")
    assert client_address.network_of(one) == client_address.network_of(two) == "2001:db8:1:2::"


@pytest.mark.parametrize(
    ("text", "network"),
    [
        ("198.51.100.1", "198.51.100.1"),
        (" [2001:db8:0:1::5] ", "2001:db8:0:1::"),
        ("2001:db8::1", "2001:db8::"),
        ("2001:0:0:4:5:6:7:8", "2001:0:0:4::"),
        ("fe80::1%eth0", "fe80::"),
        ("::1", "::"),
        ("::ffff:198.51.100.1", "198.51.100.1"),
        *(
            (text, None)
            for text in ("", "1.2.3", "01.2.3.4", "1.2.3.256", "1.2.3.4:80", "1.2.3.4/24", "0x1.2.3.4", "1")
        ),
        *(
            (text, None)
            for text in ("::g", "1::2::3", "::1/64", "1:2:3:4:5:6:7:8:9", "1.2.3.4\x00", "٣.1.1.1", "\ud800")
        ),
    ],
)
def test_an_address_is_parsed_to_one_spelling(text, network):
    address = client_address.parse_address(text)
    assert (address and client_address.network_of(address)) == network


@pytest.mark.parametrize("siblings", [b"", b'"]", {}, "\\\\", [], "\\"[[", '])
def test_a_body_nests_64_levels_and_no_more(siblings):
    def nested(levels):
        value = b"1"
        for level in range(levels):
            value = b"[" + siblings + value + b"]" if level % 2 else b'{"{": ' + value + b"}"
        return b'{"}": [0' + b', ["]"]' * 70 + b'], "x": ' + value + b"}"

    assert body.parse_object(nested(63))
    with pytest.raises(BadRequest, match="not valid"):
        body.parse_object(nested(64))


def test_a_body_has_400_000_values_and_no_more():
    def numbers(count: int) -> bytes:
        return b'{"a,[": [' + b",".join([b"1"] * count) + b"]}"

    assert len(body.parse_object(numbers(body.MAX_VALUES - 10))["a,["]) == body.MAX_VALUES - 10
    with pytest.raises(BadRequest) as refused:
        body.parse_object(numbers(body.MAX_VALUES + 10))
    assert refused.value.details == ("body: more than 400000 values",)
    assert body.parse_object(b'{"a": "' + b",[{" * 500_000 + b'"}')  # in text they are no values


def test_an_error_names_the_first_20_mistakes():
    mistakes = ({"loc": ("body", number), "type": "x", "msg": "Wrong"} for number in itertools.count())
    details = schemas.describe_errors(mistakes, skipped=1, prefix=["views"])
    assert (len(details), details[0], details[-1]) == (20, "views.0: wrong", "views.19: wrong")


def test_the_data_folder_may_be_anywhere(tmp_path):
    folder = tmp_path / "a#b?c%20d"
    scenarios.manage(("migrate", "contenttypes", "-v0"), {"DATA_DIR": str(folder)})
    assert (folder / "db.sqlite3").stat().st_size > 0


def test_each_process_counts_for_itself_while_the_store_is_down(settings, monkeypatch):
    def away(*args, **kwargs):
        raise RedisConnectionError("store away")

    settings.ENV = settings.ENV.model_copy(update={"limit_search_org": "3/d", "limit_assistant_org": "3/d"})
    monkeypatch.setattr(ratelimit, "get_usage", away)
    key = str(secrets.randbits(48))
    for _ in range(3):
        ratelimit.spend((SEARCH_ORG, key))
    with pytest.raises(TooMany):
        ratelimit.spend((SEARCH_ORG, key))
    with pytest.raises(Unavailable):  # an answer costs money
        ratelimit.spend((ASSISTANT_ORG, key))


@pytest.mark.parametrize(
    ("name", "value", "says"),
    first_of(
        [
            ("LIMIT_SEARCH_ORG", "many", "write a rate such as 100/h"),
            ("LIMIT_SEARCH_ORG", "5/0s", "write a rate such as 100/h"),
            ("TRUSTED_PROXIES", "10.0.0.300", "10.0.0.300"),
            ("OPENAI_BASE_URL", "localhost:11434", "http://127.0.0.1:11434/v1"),
            ("DATABASE_URL", "mysql://x", "postgres://"),
            ("DATABASE_URL", "postgres://docs@one:5432,two:x/docs", "host:5432,host:5432"),
            ("REDIS_URL", "127.0.0.1", "redis://"),
            ("VIEW_LOG_URL", "127.0.0.1:4222", "nats://user:password@host:4222"),
            ("VIEW_LOG_URL", "nats://docs:a#b@one:4222", "In a password, write %40 for @"),
            ("VIEW_LOG_URL", "nats://one:4222,two:x", "a number from 0 to 65535"),
            ("DEBUG", "perhaps", "boolean"),
            ("DATA_DIR", "/proc/nowhere", "cannot be created"),
        ],
        5,
    ),
)
def test_a_wrong_setting_stops_the_start_and_is_named(name, value, says):
    run = scenarios.complete("check", **{name: value})
    assert run.returncode == 1
    assert f"{name}: " in run.stderr
    assert says in run.stderr
    assert "Traceback" not in run.stderr
