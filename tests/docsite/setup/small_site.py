"""A small documentation site on loopback."""

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PAGES = {
    "/": ("Heron handbook", "The heron service keeps ponds in order."),
    "/install": ("Install heron", "To install heron, run the command pip install heron."),
    "/feed": ("Feed the fish", "Heron feeds the fish at noon. Set FEED_TIME to change the time."),
    "/limits": ("Limits", "A pond has at most ninety fish."),
    "/gone": ("", ""),
}


@contextmanager
def serve_site(
    *, has_sitemap: bool = True, tags: Sequence[str] = (), files: Mapping[str, str] | None = None
) -> Iterator[str]:
    """Serve the site. Yields its address. `/gone` is in the sitemap, but does not exist. `tags` may grow meanwhile.

    `files` are plain texts beside the pages, by their paths.
    """
    texts = files or {}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            title, text = PAGES.get(path, ("", ""))
            links = " ".join(f'<a href="{page}">{name or "Gone"}</a>' for page, (name, _) in PAGES.items())
            body, kind = (
                f'<html lang="en"><head><title>{title} | Heron handbook</title>{"".join(tags)}</head>'
                + f"<body><nav>{links}</nav>"
                + (f"<main><h1>{title}</h1><p>{text}</p></main></body></html>"),
                "text/html",
            )
            if path == "/sitemap.xml" and has_sitemap:
                body = "".join(f"<url><loc>{address}{page}</loc></url>" for page in PAGES)
                body, kind = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{body}</urlset>', "text/xml"
            if path in texts:
                body, kind = texts[path], "text/css" if path.endswith(".css") else "text/plain"
            self.send_response(200 if title or kind != "text/html" else 404)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body.encode())))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: object) -> None:
            pass

    site = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    address = f"http://127.0.0.1:{site.server_port}"
    thread = threading.Thread(target=site.serve_forever, daemon=True)
    thread.start()
    try:
        yield address
    finally:
        site.shutdown()
        site.server_close()
