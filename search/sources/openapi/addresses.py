"""The paths and addresses that renderers of OpenAPI documents give to operations and tags."""

import re
from urllib.parse import quote

from docsite.core.unicode.normalization import remove_accents
from search.sources.openapi.spec import Operation

_SIGN_NAMES = {"$": "dollar", "%": "percent", "&": "and", "<": "less", ">": "greater", "|": "or", "ß": "ss", "-": " "}
_BRACES = re.compile(r"\{[^}\n]*+\}?+")  # perhaps without their end: no others begin before it
_DROPPED = re.compile(r"[^A-Za-z0-9_\s$*+~.()'\"!:@]+")
_ENCODE_URI_SAFE = ";,/?:@&=+$-_.!~*'()#%"  # characters that `encodeURI` keeps, and `%` of escapes


def make_operation_path(operation: Operation) -> str:
    """The path of an operation's page, as in Mintlify: its tag, then its summary, or its method and path."""
    last = make_file_name(operation.summary)
    if not last:
        verb = "" if operation.method == "WEBHOOK" else f"{operation.method.lower()}-"
        last = f"{verb}{make_file_name(operation.path)}"
    return "/".join(filter(None, [make_file_name(operation.tags[0]) if operation.tags else "", last]))


def make_operation_address(operation: Operation, generator: str) -> str:
    """The fragment of an operation on a single-page site (Redoc, Swagger UI); empty for other generators."""
    if generator == "redoc":
        prefix = f"tag/{_slugify(operation.tags[0])}" if operation.tags else ""
        last = f"/operation/{operation.id}" if operation.id else operation.pointer
        fragment = f"{prefix}{last}" if prefix or not operation.id else last[1:]
        return f"#{quote(fragment, safe=_ENCODE_URI_SAFE)}"
    if generator == "swagger-ui":
        webhook = operation.method == "WEBHOOK"
        tag = "webhooks" if webhook else operation.tags[0] if operation.tags else "default"
        # The name that swagger-client gives to an operation without an `operationId`.
        verb = operation.pointer.rpartition("/")[2]
        name = operation.id or verb + re.sub(r"[^\w]", "_", operation.path, flags=re.ASCII)
        return f"#/{_quote_deep_link(tag)}/{_quote_deep_link(name)}"
    return ""


def make_tag_address(tag: str, generator: str) -> str:
    """The fragment of a tag on a single-page site (Redoc, Swagger UI); empty for other generators."""
    if generator == "redoc":
        return f"#tag/{quote(_slugify(tag), safe=_ENCODE_URI_SAFE)}"
    return f"#/{_quote_deep_link(tag)}" if generator == "swagger-ui" else ""


def make_file_name(words: str) -> str:
    """The file name that `prepareStringToBeValidFilename` of @mintlify/common makes."""
    words = _BRACES.sub(lambda found: "-" if found[0].endswith("}") else found[0], words.replace(" ", "-"))
    words = re.sub(r"^-|-$", "", words)
    return re.sub("--", "-", re.sub(r"[{}(),.'\n/]", "", words)).lower()


def _slugify(words: str) -> str:
    """The slug that Redoc makes with `slugify`: it keeps case, removes accents and spells out signs."""
    slug = _DROPPED.sub("", "".join(_SIGN_NAMES.get(mark, mark) for mark in remove_accents(words))).strip()
    return re.sub(r"\s+", "-", slug) or re.sub(r"\s+", "-", words.lower()).strip("-")


def _quote_deep_link(words: str) -> str:
    return quote(re.sub(r"\s", "%20", words.strip()), safe=_ENCODE_URI_SAFE)
