"""Where a renderer of OpenAPI documents shows an operation or a tag."""

import re
import unicodedata
from urllib.parse import quote

from search.sources.openapi.spec import Operation

_SIGNS = {"$": "dollar", "%": "percent", "&": "and", "<": "less", ">": "greater", "|": "or", "ß": "ss", "-": " "}
_UNWRITTEN = re.compile(r"[^A-Za-z0-9_\s$*+~.()'\"!:@]+")
_AS_JAVASCRIPT = ";,/?:@&=+$-_.!~*'()#%"  # what `encodeURI` leaves alone, and what is escaped already


def path_of(operation: Operation) -> str:
    """The path of an operation's page, as Mintlify makes it: its tag, then its summary, else its method and path."""
    last = _file_name(operation.summary)
    if not last:
        verb = "" if operation.method == "WEBHOOK" else f"{operation.method.lower()}-"
        last = f"{verb}{_file_name(operation.path)}"
    return "/".join(filter(None, [tag_path(operation.tags[0]) if operation.tags else "", last]))


def tag_path(tag: str) -> str:
    """The folder of a tag's operations, as Mintlify makes it."""
    return _file_name(tag)


def address_of(operation: Operation, generator: str) -> str:
    """Where a site that is a single page shows an operation. Empty for other sites."""
    if generator == "redoc":
        place = f"tag/{_slug(operation.tags[0])}" if operation.tags else ""
        last = f"/operation/{operation.id}" if operation.id else operation.pointer
        whole = f"{place}{last}" if place or not operation.id else last[1:]
        return f"#{quote(whole, safe=_AS_JAVASCRIPT)}"
    if generator == "swagger-ui":
        webhook = operation.method == "WEBHOOK"
        tag = "webhooks" if webhook else operation.tags[0] if operation.tags else "default"
        named = operation.id or _invent_name(operation)
        return f"#/{_deep(tag)}/{_deep(named)}"
    return ""


def tag_address(tag: str, generator: str) -> str:
    """Where a site that is a single page shows a tag. Empty for other sites."""
    if generator == "redoc":
        return f"#tag/{quote(_slug(tag), safe=_AS_JAVASCRIPT)}"
    return f"#/{_deep(tag)}" if generator == "swagger-ui" else ""


def _file_name(words: str) -> str:
    """`prepareStringToBeValidFilename` of @mintlify/common."""
    words = re.sub(r"\{.*?\}", "-", words.replace(" ", "-"))
    words = re.sub(r"^-|-$", "", words)
    return re.sub("--", "-", re.sub(r"[{}(),.'\n/]", "", words)).lower()


def _slug(words: str) -> str:
    """`slugify`, as Redoc calls it: case stays, accents go, signs become words."""
    plain = "".join(mark for mark in unicodedata.normalize("NFKD", words) if not unicodedata.combining(mark))
    written = _UNWRITTEN.sub("", "".join(_SIGNS.get(mark, mark) for mark in plain)).strip()
    return re.sub(r"\s+", "-", written) or re.sub(r"\s+", "-", words.lower()).strip("-")


def _invent_name(operation: Operation) -> str:
    """The name that swagger-client gives to an operation without an `operationId`."""
    return operation.pointer.rpartition("/")[2] + re.sub(r"[^\w]", "_", operation.path, flags=re.ASCII)


def _deep(words: str) -> str:
    return quote(re.sub(r"\s", "%20", words.strip()), safe=_AS_JAVASCRIPT)
