"""Reading over HTTP: public hosts only, nothing without a bound, nothing given away."""

import gzip
import itertools
import threading
import time
import tracemalloc
import zlib
from ipaddress import ip_address

import pytest

from docsite.core.network import connections as network
from docsite.core.network.connections import is_public
from docsite.core.network.private_hosts import PrivateHosts
from search.sources.request import SourceRequest
from search.sources.web.fetch import Fetcher, FetchError, Limits, decompress, is_same_site, printable
from tests.search.sources import sites
from tests.search.sources.sites import answer, redirect
from tests.variants import first_of

running: list[str] = []  # the host of the site
SMALL = Limits(1024 * 1024, 5.0)
MIB = 1024 * 1024


@pytest.fixture(scope="module")
def server():
    site, stop = sites.serve()
    running.append(site.host)
    yield site
    running.clear()
    stop()


@pytest.fixture
def site(server):
    return server.reset({"/": answer("Hello")})


def fetcher(*private: str, **seams) -> Fetcher:
    return Fetcher(SourceRequest("", "", private_hosts=private or tuple(running)), **seams)


def refusal(url: str, *private: str, limits: Limits = SMALL) -> str:
    with pytest.raises(FetchError) as refused, fetcher(*private) as http:
        http.get(url, limits=limits)
    return str(refused.value)


@pytest.mark.parametrize(
    "host",
    [
        *("127.0.0.1", "127.1", "2130706433", "017700000001", "0x7f.0.0.1", "0x7f000001", "127。0。0。1"),
        *("localhost", "LOCALHOST", "0.0.0.0", "0", "[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]"),
        *("[::127.0.0.1]", "[64:ff9b::7f00:1]", "[64:ff9b:1::7f00:1]", "[2002:7f00:1::]", "[2001:0:7f00:1::]"),
        *("10.0.0.1", "172.16.0.1", "192.168.1.1", "100.64.0.1", "169.254.169.254", "192.0.2.1", "198.18.0.1"),
        *("224.0.0.1", "240.0.0.1", "255.255.255.255", "[fe80::1]", "[fd00::1]", "[ff02::1]", "[2001:db8::1]"),
    ],
)
def test_an_address_that_is_not_public_is_refused_however_it_is_written(host):
    assert "which is no public address" in refusal(f"http://{host}:9/", "docs.internal:9", "192.0.0.0/30:9")


@pytest.mark.parametrize(
    "address", ["93.184.216.34", "8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"]
)
def test_public_addresses_are_public(address):
    assert is_public(ip_address(address))


def test_the_refusal_says_what_the_owner_can_do():
    found = refusal("http://localhost:9/a", "10.0.0.0/8")
    assert "CRAWL_PRIVATE_HOSTS=localhost:9" in found


@pytest.mark.parametrize(
    ("private", "host"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("127.0.0.0/8", "127.0.0.1"),
        ("docs.internal", "docs.internal"),
        ("Docs.Internal.", "docs.internal"),
    ],
)
def test_hosts_that_the_owner_names_are_read(site, private, host):
    url = site.url.replace("127.0.0.1", host)
    with fetcher(f"{private}:{url.rpartition(':')[2]}", resolver=lambda host, port: ["127.0.0.1"]) as http:
        assert http.get(url).body == b"Hello"
    assert site.requests[0].headers["host"] == url.removeprefix("http://")


@pytest.mark.parametrize(
    ("entry", "allowed", "refused"),
    [
        ("docs.internal", [("docs.internal", 80), ("DOCS.internal.", 443)], [("docs.internal", 8080), ("x", 80)]),
        ("docs.internal:8080", [("docs.internal", 8080)], [("docs.internal", 80), ("www.docs.internal", 8080)]),
        ("10.0.0.0/8", [("10.1.2.3", 443), ("::ffff:10.1.2.3", 80)], [("10.1.2.3", 22), ("11.0.0.1", 80)]),
        ("10.0.0.0/8:8080", [("10.1.2.3", 8080)], [("10.1.2.3", 80)]),
        ("fd00::/8", [("fd00::1", 80)], [("fd00::1", 81), ("fe80::1", 80)]),
        ("[fd00::1]:81", [("fd00::1", 81)], [("fd00::1", 80), ("fd00::2", 81)]),
    ],
)
def test_a_host_is_let_through_on_its_own_ports(entry, allowed, refused):
    hosts = PrivateHosts([entry])
    assert [hosts.allows(*place) for place in allowed + refused] == [True] * len(allowed) + [False] * len(refused)


def test_a_name_that_leads_into_a_named_network_is_refused(site):
    """Anybody can make up a name, and let it lead anywhere."""
    url = site.url.replace("127.0.0.1", "made-up.example")
    with (
        fetcher(site.host, resolver=lambda host, port: ["127.0.0.1"]) as http,
        pytest.raises(FetchError, match=r"127\.0\.0\.1, which is no public address"),
    ):
        http.get(url)
    assert site.requests == []


@pytest.fixture
def public(monkeypatch):
    """The address of the site passes for a public one."""
    monkeypatch.setattr(network, "is_public", lambda address: str(address) == "127.0.0.1")


def test_one_inner_address_among_public_ones_is_enough_to_refuse(public):
    resolver = lambda host, port: ["127.0.0.1", "10.0.0.1"]  # noqa: E731
    with fetcher(resolver=resolver) as http, pytest.raises(FetchError, match=r"10\.0\.0\.1"):
        http.get("http://docs.example/")


def test_a_name_is_resolved_once_and_judged_anew_for_each_connection(site, public):
    answers = iter([["127.0.0.1"], ["127.0.0.2"]])
    url = site.url.replace("127.0.0.1", "rebound.example")
    with fetcher(resolver=lambda host, port: next(answers)) as http:
        assert http.get(url).body == b"Hello", "a second look would have led to another address"
        with pytest.raises(FetchError, match=r"127\.0\.0\.2, which is no public address"):
            http.get(url)


def test_tls_is_spoken_to_the_name_and_not_to_the_address(site, public):
    url = site.url.replace("http://127.0.0.1", "https://docs.example")
    with (
        fetcher(resolver=lambda host, port: ["127.0.0.1"]) as http,
        pytest.raises(FetchError, match="cannot be reached"),
    ):
        http.get(url)
    assert b"docs.example" in site.requests[0].head


def test_an_unknown_name_is_told(site):
    def unknown(host, port):
        raise OSError

    with fetcher(resolver=unknown) as http, pytest.raises(FetchError, match="no host of that name"):
        http.get("http://nowhere.example/")


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("file:///etc/passwd", "begins with https"),
        ("ftp://docs.example/", "begins with https"),
        ("//docs.example/", "begins with https"),
        ("http://", "begins with https"),
        ("http://docs.example:99999999/", "no address"),
        ("http://docs.example\n/", "no address"),
        ("http://0177.0.0.1/", "no address"),
        ("http://me:secret@docs.example/", "a user name or a password"),
        ("http://docs.example\\@127.0.0.1/", "a user name or a password"),
    ],
)
def test_what_is_no_address_of_the_web_is_refused(url, reason):
    found = refusal(url)
    assert reason in found
    assert "secret" not in found


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("http://169.254.169.254/latest/meta-data/", "leads to another site"),
        ("http://localhost/", "leads to another site"),
        ("//127.0.0.1:1/", "leads to another site"),
        ("file:///etc/passwd", "leads to no address"),
        ("http://me:secret@127.0.0.1/", "leads to an address with a user name"),
        ("/loop", "redirected more than 5 times"),
        ("", "redirected more than 5 times"),
    ],
)
def test_a_redirect_leads_no_further_than_the_site(site, target, reason):
    site.routes |= {"/loop": redirect(target)}
    assert reason in refusal(f"{site.url}/loop")


def test_each_redirect_is_judged_by_where_its_host_is_then(site, public):
    """The same name, which is at an inner address the second time."""
    site.routes["/"] = redirect("/inside")
    answers = iter([["127.0.0.1"], ["127.0.0.2"]])
    with (
        fetcher(resolver=lambda host, port: next(answers)) as http,
        pytest.raises(FetchError, match="no public address"),
    ):
        http.get(site.url.replace("127.0.0.1", "docs.example"))
    assert site.paths == ["/"]


def test_five_redirects_are_followed_and_the_last_address_is_told(site):
    site.routes |= {f"/{number}": redirect(f"/{number + 1}") for number in range(5)} | {"/5": answer("There")}
    with fetcher() as http:
        found = http.get(f"{site.url}/0")
    assert (found.url, found.body) == (f"{site.url}/5", b"There")


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("http://docs.example/a", "https://docs.example/b", True),
        ("https://docs.example/", "http://docs.example/", False),
        ("https://docs.example/", "https://www.docs.example/", True),
        ("https://www.docs.example/", "https://docs.example:443/", True),
        ("https://docs.example/", "https://docs.example:8443/", False),
        ("https://docs.example/", "https://api.docs.example/", False),
        ("https://docs.example/", "https://docs.example.evil.example/", False),
    ],
)
def test_what_a_site_is(one, other, same):
    assert is_same_site(one, other) is same


def test_nothing_is_given_away(site, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1/")
    site.routes["/"] = answer("Hello", Set_Cookie="id=1; Path=/")
    with fetcher() as http:
        http.get(site.url)
        http.get(site.url)
    for request in site.requests:
        assert set(request.headers) - {""} == {"host", "user-agent", "accept", "accept-encoding"}
        assert request.headers["user-agent"].startswith("docs-service/0.1")
        assert request.headers["accept-encoding"] == "gzip"


def endless(head: str, piece: bytes, pause: float = 0.0):
    def respond(request):
        yield head.encode()
        for _ in itertools.count():
            yield piece
            time.sleep(pause)

    return respond


HEAD = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"


@pytest.mark.parametrize(
    ("route", "reason"),
    [
        (endless(f"{HEAD}\r\n", b"x" * 65536), "larger than 1 MiB"),
        (endless(f"{HEAD}Transfer-Encoding: chunked\r\n\r\n", b"10000\r\n" + b"x" * 65536 + b"\r\n"), "larger than"),
        (endless(HEAD, b"X-More: " + b"x" * 8000 + b"\r\n"), "cannot be reached"),
        (answer(gzip.compress(bytes(40 * MIB)), Content_Encoding="gzip"), "larger than 1 MiB"),
        (answer(zlib.compress(bytes(40 * MIB)), Content_Encoding="deflate"), "larger than 1 MiB"),
        (endless(f"{HEAD}Content-Encoding: gzip\r\n\r\n", gzip.compress(b"") * 3000), "larger than 1 MiB"),
        (answer(gzip.compress(b"x" * 9999)[:-9], Content_Encoding="gzip"), "breaks off"),
        (answer(b"no gzip", Content_Encoding="gzip"), "cannot be unpacked"),
        (answer(b"x", Content_Encoding="br"), "not asked for"),
        (answer(b"short", Content_Length="9999"), "cannot be reached"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "cannot be reached"),
        (b"", "cannot be reached"),
        (answer("", status="503 Service Unavailable"), "answers 503"),
        (answer("", status="304 Not Modified"), "answers 304"),
    ],
)
def test_what_never_ends_grows_or_breaks_off_is_refused(site, route, reason):
    site.routes["/"] = route
    assert reason in refusal(site.url)


@pytest.mark.parametrize("encoding", first_of(["gzip", "deflate"], 1))
def test_nothing_of_a_bomb_is_unpacked_beyond_the_cap(encoding):
    bomb = (gzip.compress if encoding == "gzip" else zlib.compress)(bytes(40 * MIB))
    tracemalloc.start()
    with pytest.raises(ValueError, match="larger than 1 MiB"):
        list(decompress([bomb], encoding, MIB))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * MIB


@pytest.mark.parametrize("head", ["", HEAD, f"{HEAD}\r\n", "HTTP/1.1 100 Continue\r\n\r\n"])
def test_a_server_that_drips_gains_no_time(site, head):
    site.routes["/"] = endless(head, b"HTTP/1.1 100 Continue\r\n\r\n" if "100" in head else b"x", 0.02)
    start = time.monotonic()
    assert "within 0.2 seconds" in refusal(site.url, limits=Limits(MIB, 0.2))
    assert time.monotonic() - start < 4


def test_redirects_share_one_time(site):
    def slow(request):
        time.sleep(0.08)
        yield redirect("/")

    site.routes["/"] = slow
    assert "within 0.2 seconds" in refusal(site.url, limits=Limits(MIB, 0.2))


def test_bodies_of_other_types_are_not_read(site):
    site.routes["/"] = endless("HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\n\r\n", b"x" * 65536)
    with fetcher() as http:
        found = http.get(site.url, media_types=("text/html",))
    assert (found.content_type, found.body) == ("video/mp4", b"")


@pytest.mark.parametrize(
    ("given", "condition"),
    [
        ({"ETag": '"a"', "Last_Modified": "Mon, 01 Jan 2024 00:00:00 GMT"}, ("if-none-match", '"a"')),
        ({"ETag": 'W/"a"'}, ("if-none-match", 'W/"a"')),
        (
            {"Last_Modified": "Mon, 01 Jan 2024 00:00:00 GMT"},
            ("if-modified-since", "Mon, 01 Jan 2024 00:00:00 GMT"),
        ),
    ],
)
def test_what_has_not_changed_is_not_sent_again(site, given, condition):
    name, value = condition
    unchanged = answer("", status="304 Not Modified")
    site.routes["/"] = lambda request: [unchanged if request.headers.get(name) == value else answer("Hello", **given)]
    with fetcher() as http:
        first = http.get(site.url)
        again = http.get(site.url, first.validator)
    assert (first.is_unchanged, first.body, again.is_unchanged, again.body) == (False, b"Hello", True, b"")


def test_unpacked_bodies_and_encodings_come_out(site):
    site.routes["/"] = answer(gzip.compress(b"Hello" * 999), "Text/HTML; Charset='latin-1'", Content_Encoding="gzip")
    with fetcher() as http:
        found = http.get(site.url)
    assert (found.body, found.content_type, found.charset) == (b"Hello" * 999, "text/html", "latin-1")


def test_several_threads_may_ask_at_once(site):
    site.routes |= {f"/{number}": answer(str(number)) for number in range(20)}
    found = {}
    with fetcher() as http:

        def ask(number: int) -> None:
            found[number] = http.get(f"{site.url}/{number}").body

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert found == {number: str(number).encode() for number in range(20)}


def test_messages_hold_no_passwords_and_no_line_ends():
    assert printable("http://me:secret@x.example/\nINFO forged") == "http://x.example/?INFO forged"
    assert printable("http://x.example/llms.txt?token=secret") == "http://x.example/llms.txt?…"
    assert len(printable("http://x.example/" + "a" * 999)) < 220
