"""Web sites for tests, ordinary and hostile: a threaded server on loopback that speaks HTTP by hand.

Its responses are in `routes`, by path: bytes that are sent as they are, or a function of the request that yields pieces
of bytes. Any other path gets 404.
"""

import socketserver
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field

Route = bytes | Callable[["Request"], Iterable[bytes]]


@dataclass
class Request:
    """A request that the site received. Header names are in lower case."""

    path: str
    headers: dict[str, str]
    head: bytes


@dataclass
class Site:
    """A running site, with the requests that it received, oldest first."""

    url: str
    routes: dict[str, Route] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)

    @property
    def host(self) -> str:
        """Its host and port."""
        return self.url.removeprefix("http://")

    @property
    def paths(self) -> list[str]:
        """The paths of the requests."""
        return [request.path for request in self.requests]

    def reset(self, routes: dict[str, Route]) -> "Site":
        """Start again with other pages."""
        self.routes = routes
        self.requests.clear()
        return self


def answer(body: bytes | str, kind: str = "text/html", status: str = "200 OK", **headers: str) -> bytes:
    """An HTTP response; `_` in the names of headers becomes a hyphen."""
    body = body.encode() if isinstance(body, str) else body
    lines = {"Content-Type": kind, "Content-Length": str(len(body)), "Connection": "close"}
    lines |= {name.replace("_", "-"): value for name, value in headers.items()}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"HTTP/1.1 {status}\r\n{head}\r\n".encode() + body


def redirect(target: str, status: str = "302 Found") -> bytes:
    """A response that redirects."""
    return answer("", status=status, Location=target)


def page(title: str, *links: str, head: str = "", text: str = "") -> str:
    """A page in HTML with a heading, some text and links."""
    items = "".join(f'<li><a href="{link}">{link}</a></li>' for link in links)
    text = text or f"All there is to know of {title} in one place."
    return (
        f"<!doctype html><html lang=en><head><title>{title}</title>{head}</head><body><nav><ul>{items}</ul></nav>"
        f"<main><h1>{title}</h1><p>{text}</p><h2 id=the-rest>More</h2><p>{text}</p></main></body></html>"
    )


def tagged(body: str, tag: str = '"1"', kind: str = "text/html") -> Route:
    """A page with an ETag. It is not sent again to a client that has it."""

    def respond(request: Request) -> Iterable[bytes]:
        if request.headers.get("if-none-match") == tag:
            return [f"HTTP/1.1 304 Not Modified\r\nETag: {tag}\r\nConnection: close\r\n\r\n".encode()]
        return [answer(body, kind, ETag=tag)]

    return respond


def sitemap(*addresses: str, index: bool = False) -> bytes:
    """A sitemap, or a list of sitemaps."""
    outer, inner = ("sitemapindex", "sitemap") if index else ("urlset", "url")
    entries = "".join(f"<{inner}><loc>{address}</loc></{inner}>" for address in addresses)
    return answer(f'<{outer} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</{outer}>', "text/xml")


def serve() -> tuple[Site, Callable[[], None]]:
    """Start a site. Returns it with the function that stops it."""

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            head = b""
            while b"\r\n\r\n" not in head:
                data = self.request.recv(65536)
                head += data
                if not data or head[:1] == b"\x16":  # the first byte of TLS
                    break
            lines = head.decode("latin-1").split("\r\n")
            path = lines[0].partition(" ")[2].partition(" ")[0]
            headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines[1:])}
            request = Request(path, headers, head)
            site.requests.append(request)
            route = site.routes.get(path, answer("Not here.", "text/plain", "404 Not Found"))
            with suppress(OSError):  # the client closed the connection
                for piece in [route] if isinstance(route, bytes) else route(request):
                    self.request.sendall(piece)

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True
        block_on_close = False
        request_queue_size = 50

    server = Server(("127.0.0.1", 0), Handler)
    site = Site(f"http://127.0.0.1:{server.server_address[1]}")
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()

    def stop() -> None:
        server.shutdown()
        server.server_close()

    return site, stop
