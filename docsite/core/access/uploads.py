"""Bodies that are too large for memory: received only from those who may send them, in a file without a name.

Django authenticates a request only after its whole body has arrived, and Daphne holds that body in memory. Apps
register the names of their resources when they start: `PUT /v1/NAME/{projectId}/{name}` takes such a body.
"""

import asyncio
import re
from collections.abc import Callable
from tempfile import TemporaryFile
from typing import IO, ClassVar, Protocol, TypeVar
from urllib.parse import unquote

from django.core.handlers.asgi import ASGIRequest
from django.db import DatabaseError
from django.http import HttpRequest

from docsite.core.access import authentication
from docsite.core.db import in_db
from docsite.core.http.client_address import client_ip
from docsite.core.http.errors import ApiError, TooLarge, Unavailable, is_body_too_large

MAX_BYTES = 100 * 1024 * 1024
MAX_SECONDS = 1800.0  # for a body to arrive
MAX_UPLOADS = 4  # at once in a process
EXTENSION = "docsite.upload"  # of the ASGI scope: the file, or None if the server could not store the body
_BLOCK = 1024 * 1024
_PATH = re.compile(rb"/v1/([\w-]+)/([^/?]+)/[^/?]+(\?|$)")
_resources: set[bytes] = set()
Argument = TypeVar("Argument")


def allow(*names: str) -> None:
    """Let admin keys with the scope `write` send large bodies to these resources of a project."""
    _resources.update(name.encode() for name in names)


def is_upload(method: bytes, path: bytes) -> bool:
    """Whether a request has a body that goes to the disk."""
    match = _PATH.match(path)
    return method == b"PUT" and match is not None and match[1] in _resources


async def receive(request: ASGIRequest) -> IO[bytes]:
    """The body of a request as a file. Raises TooLarge, and Unavailable when it could not be stored."""
    if is_body_too_large(request.scope):
        raise TooLarge(MAX_BYTES)
    extensions = request.scope.get("extensions", {})
    if EXTENSION not in extensions:  # another server than ours: Django has stored the body
        return await asyncio.to_thread(_copy, request)
    file: IO[bytes] | None = extensions[EXTENSION]
    if file is None:
        raise Unavailable("The body cannot be stored now. Try again shortly.", 30)
    return file


def _copy(request: ASGIRequest) -> IO[bytes]:
    file, size = TemporaryFile(), 0  # noqa: SIM115  # closed when nothing refers to it
    while block := request.read(_BLOCK):
        size += len(block)
        if size > MAX_BYTES:
            raise TooLarge(MAX_BYTES)
        file.write(block)
    file.flush()
    return file


def check_sender(path: bytes, headers: dict[str, str]) -> None:
    """Raise an `ApiError` unless the key of a request may write to the project in its path.

    `headers` are named as in `HttpRequest.META`. The endpoint checks the key again.
    """
    match = _PATH.match(path)
    assert match
    request = HttpRequest()
    request.META.update(headers)
    token = authentication.bearer_token(request)
    authentication.admin_caller(token, unquote(match[2].decode("latin-1")), client_ip(request), write=True)


class Producer(Protocol):
    """The connection that a body comes from."""

    def pauseProducing(self) -> None:
        """Read no more for now."""

    def resumeProducing(self) -> None:
        """Read on."""


class Upload:
    """The body of one request. Threads open and write its file, since the event loop must not wait for a disk.

    Nothing is read from the connection meanwhile. `refuse` is called when the body is not wanted: then `file` stays
    None, and the application says why.
    """

    running: ClassVar[int] = 0

    def __init__(self, check: Callable[[], None], producer: Producer, refuse: Callable[[], None]) -> None:
        self.file: IO[bytes] | None = None
        self.size = 0
        self.is_refused = False
        self._producer = producer
        self._refuse = refuse
        self._waiting = bytearray()
        self._is_closed = False
        Upload.running += 1
        self._step = asyncio.ensure_future(self._run(self._open, check))

    def add(self, data: bytes) -> None:
        """Take a piece of the body."""
        self.size += len(data)
        if not self.is_refused:
            self._waiting += data
        if len(self._waiting) >= _BLOCK and self._step.done():
            self._step = asyncio.ensure_future(self._run(self._write, self._take()))

    async def finish(self) -> None:
        """Write the rest, after the whole body has arrived."""
        await self._step
        if self._waiting and not self.is_refused:
            self._step = asyncio.ensure_future(self._run(self._write, self._take()))
            await self._step

    def close(self) -> None:
        """Forget the body. A process that has inherited the file may still read it."""
        if not self._is_closed:
            self._is_closed = True
            Upload.running -= 1
        if self.file and self._step.done():
            self.file.close()

    def _take(self) -> bytes:
        data, self._waiting = bytes(self._waiting), bytearray()
        return data

    async def _run(self, step: Callable[[Argument], None], argument: Argument) -> None:
        self._producer.pauseProducing()
        try:
            await in_db(step)(argument)
        except (ApiError, OSError, DatabaseError):
            self.is_refused = True
            self.file = None
            self._waiting.clear()
            self._refuse()
        finally:
            self._producer.resumeProducing()
            if self._is_closed and self.file:
                self.file.close()

    def _open(self, check: Callable[[], None]) -> None:
        check()
        if Upload.running > MAX_UPLOADS:
            raise OSError("too many uploads")
        self.file = TemporaryFile()  # noqa: SIM115  # `close` closes it

    def _write(self, data: bytes) -> None:
        assert self.file
        self.file.write(data)
        self.file.flush()
