"""Material for MkDocs: the addresses of a blog's posts, and headings whose ids a hook or mkdocstrings writes."""

import re
from collections.abc import Mapping
from datetime import date
from posixpath import normpath
from typing import Any

from search.sources.markdown.sites import Meta
from search.sources.markdown.slugs import build_pymdownx_slugs
from search.text.markdown.plain_text import plain

_DATE_FIELD = re.compile(r"y+|M+|d+|'[^']*'")
_FIELD = re.compile(r"\{(date|slug|categories|file)\}")
_SLUGS = build_pymdownx_slugs(case="lower")
# A heading that a hook fills, as in Material's own repository: `#### <!-- md:setting config.enabled -->`.
_SETTING = re.compile(r"(?m)^(#{1,6}[ \t]+)<!-- md:(setting|option) ([\w.:*+-]+) -->[ \t]*$")
# What mkdocstrings documents, as a heading: `## ::: package.function`, with options below.
_OBJECT = re.compile(r"(?m)^(#{1,6})[ \t]*:::[ \t]+([\w.:/-]+)[ \t]*$(?:\n(?:[ \t]{4,}.*|[ \t]*$))*")


class Blog:
    """The settings of the blog plugin that make the addresses of its posts."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        def setting(name: str, default: str) -> str:
            return value if isinstance(value := options.get(name), str) else default

        self.folder = setting("blog_dir", "blog").strip("./")
        self.posts = normpath(setting("post_dir", "{blog}/posts").replace("{blog}", self.folder or ".")).strip("/")
        self.url_format = setting("post_url_format", "{date}/{slug}")
        self.date_format = setting("post_url_date_format", "yyyy/MM/dd")
        categories = setting("post_url_max_categories", "1")
        self.max_categories = int(categories) if categories.isdecimal() else 1

    def find_address(self, name: str, front: Meta) -> str | None:
        """The address of a post, without slashes around it, from its file name and its front matter with its title.

        None for a file that is no post.
        """
        if not name.startswith(f"{self.posts}/"):
            return None
        categories = front.get("categories")
        parts = {
            "date": _format_date(front.get("date"), self.date_format),
            "slug": _text(front.get("slug")) or _SLUGS.slug(plain(_text(front.get("title")))),
            "categories": "/".join(
                _SLUGS.slug(_text(category))
                for category in (categories if isinstance(categories, list) else [])[: self.max_categories]
            ),
            "file": name.rpartition("/")[2].rpartition(".")[0],
        }
        path = _FIELD.sub(lambda field: parts[field[1]], self.url_format)
        return normpath(f"{self.folder}/{path}").strip("/")


def rewrite(body: str) -> str:
    """The page with the headings that a hook or mkdocstrings would write."""
    if "md:" in body:
        body = _SETTING.sub(_write_setting, body)
    return _OBJECT.sub(r"\1 `\2` {#\2}\n\n", body) if ":::" in body else body


def _write_setting(found: re.Match[str]) -> str:
    start, kind, name = found.groups()
    return f"{start}`{re.split('[.:*]', name)[-1]}` {{#{'+' if kind == 'option' else ''}{name}}}"


def _format_date(value: Any, pattern: str) -> str:
    """A day in a pattern such as `yyyy/MM/dd`; empty without one."""
    text = _text(value.get("created") if isinstance(value, Mapping) else value)[:10]
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return ""
    fields = {"yyyy": f"{day:%Y}", "yy": f"{day:%y}", "MM": f"{day:%m}", "M": str(day.month), "dd": f"{day:%d}",
              "d": str(day.day), "MMM": f"{day:%b}", "MMMM": f"{day:%B}"}  # fmt: skip
    return _DATE_FIELD.sub(lambda field: fields.get(field[0], field[0].strip("'")), pattern)


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""
