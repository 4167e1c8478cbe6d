"""Write redirects in the languages of hosts and servers.

Addresses without a page come from strangers. So an address is written only if each of its characters is a letter, a
digit or one of a few marks that mean nothing in any of these languages; others are left out. Every rule compares whole
addresses: none holds a pattern.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from pathlib import PurePosixPath
from typing import NamedTuple
from urllib.parse import quote, unquote

_SAFE = re.compile(r"[\w\-.~+@,/]+")
_ORIGIN = re.compile(r"https?://[A-Za-z0-9.\-]+(?::\d+)?")
_NOT_PLAIN = re.compile(r"[^A-Za-z0-9\-._~/%?#=&+@,]")  # such as `$` and `:`, which are variables somewhere
_MAX_NAME = 200  # bytes of a folder's name
HTML = "html"


class Rule(NamedTuple):
    """A redirect between two addresses of a host, both percent-encoded and in ASCII; `target` may be absolute."""

    source: str
    target: str


def is_safe(path: str) -> bool:
    """Whether a decoded path can be written in every format."""
    parts = path.split("/")[1:]
    return (
        path.startswith("/")
        and not path.startswith("//")
        and bool(_SAFE.fullmatch(path))
        and all(part and not part.startswith(".") and len(part.encode()) <= _MAX_NAME for part in parts)
    )


def list_rules(source: str, target: str) -> Iterator[Rule]:
    """The rules of one address, as it is requested with and without a slash or `.html` at its end."""
    origin = found[0] if (found := _ORIGIN.match(target)) else ""
    target = origin + _NOT_PLAIN.sub(lambda mark: quote(mark[0], safe=""), target[len(origin) :])
    endings = ("", "/", ".html") if unquote(target).endswith((".html", ".htm")) else ("", "/")
    for ending in endings:
        yield Rule(quote(source, safe="/") + ending, target)


def write_netlify(rules: Sequence[Rule]) -> str:
    """`_redirects` of Netlify and Cloudflare Pages: three words a line."""
    return "".join(f"{source} {target} 301\n" for source, target in rules)


def write_nginx(rules: Sequence[Rule]) -> str:
    """Locations for `include` in a server block. nginx compares them with the decoded path, case by case.

    A `map` would ignore case, so that `/API` to `/api` would be a loop.
    """
    return "".join(f'location = "{unquote(source)}" {{ return 301 "{target}"; }}\n' for source, target in rules)


def write_caddy(rules: Sequence[Rule]) -> str:
    """A map and a redirect for `import` in a site block. Caddy's own path matcher would ignore case."""
    if not rules:
        return ""
    lines = "".join(f'\t"{unquote(source)}" "{target}"\n' for source, target in rules)
    return (
        f'map {{path}} {{moved_to}} {{\n{lines}\tdefault ""\n}}\n'
        '@moved not vars {moved_to} ""\nredir @moved {moved_to} 301\n'
    )


def write_page(target: str) -> str:
    """A page that leads on, for hosts that know no redirects."""
    link = escape(target, quote=True)
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>This page has moved</title>'
        f'<link rel="canonical" href="{link}"><meta http-equiv="refresh" content="0; url={link}">'
        f'<meta name="robots" content="noindex"><p>This page has moved to <a href="{link}">{link}</a>.</p></html>\n'
    )


def file_of(source: str) -> PurePosixPath:
    """The file of the page at an address, relative to the folder of the site."""
    path = PurePosixPath(unquote(source).lstrip("/"))
    return path if path.suffix == ".html" else path / "index.html"


WRITERS: Mapping[str, Callable[[Sequence[Rule]], str]] = {
    "netlify": write_netlify,
    "nginx": write_nginx,
    "caddy": write_caddy,
}
