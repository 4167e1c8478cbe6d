"""Bodies that are too large for memory: received only from those who may send them, in a file without a name.

Django authenticates a request only after its whole body has arrived, and Daphne holds that body in memory. Apps
register the names of their resources when they start: `PUT /v1/NAME/{projectId}/{name}` takes such a body.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable
from tempfile import TemporaryFile
from typing import IO, ClassVar, Protocol
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
MAX_UPLOADS = 4  # at once in a process, from the check of the key to the end of the response
EXTENSION = "docsite.upload"  # of the ASGI scope: the file, or the `ApiError` for which the body was refused
_BLOCK = 1024 * 1024
_PATH = re.compile(rb"/v1/([\w-]+)/([^/?]+)/[^/?]+(\?|$)")
_resources: set[bytes] = set()


def allow(*names: str) -> None:
    """Let admin keys with the scope `write` send large bodies to these resources of a project."""
    _resources.update(name.encode() for name in names)


def is_upload(method: bytes, path: bytes) -> bool:
    """Whether a request has a body that goes to the disk."""
    match = _PATH.match(path)
    return method == b"PUT" and match is not None and match[1] in _resources


async def receive(request: ASGIRequest) -> IO[bytes]:
    """The body of a request as a file. Raises TooLarge, Unavailable, or what the check of the sender raised."""
    if is_body_too_large(request.scope):
        raise TooLarge(MAX_BYTES)
    extensions = request.scope.get("extensions", {})
    if EXTENSION not in extensions:  # another server than ours: Django has stored the body
        return await asyncio.to_thread(_copy, request)
    body: IO[bytes] | ApiError = extensions[EXTENSION]
    if isinstance(body, ApiError):
        raise body
    return body


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

    Nothing is read from the connection meanwhile. `refuse` is called when the body is not wanted: then `body` is the
    error that the application sends. Only a sender whose check passes takes one of the `MAX_UPLOADS` places.
    """

    running: ClassVar[set["Upload"]] = set()

    def __init__(self, check: Callable[[], None], producer: Producer, refuse: Callable[[], None]) -> None:
        self.body: IO[bytes] | ApiError | None = None
        self.size = 0
        self._producer = producer
        self._refuse = refuse
        self._waiting = bytearray()
        self._is_closed = False
        self._step = asyncio.ensure_future(self._run(self._open(check)))

    @property
    def is_refused(self) -> bool:
        """Whether the body is not wanted."""
        return isinstance(self.body, ApiError)

    def add(self, data: bytes) -> None:
        """Take a piece of the body."""
        self.size += len(data)
        if not self.is_refused:
            self._waiting += data
        if len(self._waiting) >= _BLOCK and self._step.done():
            self._step = asyncio.ensure_future(self._run(self._write()))

    async def finish(self) -> None:
        """Write the rest, after the whole body has arrived."""
        await self._step
        if self._waiting:
            self._step = asyncio.ensure_future(self._run(self._write()))
            await self._step

    def close(self) -> None:
        """Forget the body, and free its place. A process that has inherited the file may still read it."""
        self._is_closed = True
        Upload.running.discard(self)
        if self._step.done():
            self._close_file()

    def _close_file(self) -> None:
        if self.body and not isinstance(self.body, ApiError):
            self.body.close()

    async def _run(self, step: Awaitable[None]) -> None:
        self._producer.pauseProducing()
        try:
            await step
        except ApiError as error:
            self._end(error)
        except (OSError, DatabaseError):
            self._end(Unavailable("The body cannot be stored now. Try again shortly.", 30))
        finally:
            self._producer.resumeProducing()
            if self._is_closed:
                self._close_file()

    def _end(self, error: ApiError) -> None:
        self._close_file()
        self.body = error
        self._waiting.clear()
        self._refuse()

    async def _open(self, check: Callable[[], None]) -> None:
        await in_db(check)()
        if self._is_closed:
            return
        if len(Upload.running) >= MAX_UPLOADS:
            raise Unavailable("Too many pushes are running. Try again shortly.", 30)
        Upload.running.add(self)
        self.body = await in_db(lambda: TemporaryFile())()  # noqa: SIM115  # `close` closes it

    async def _write(self) -> None:
        data, self._waiting = bytes(self._waiting), bytearray()
        await in_db(self._write_now)(data)

    def _write_now(self, data: bytes) -> None:
        assert self.body
        assert not isinstance(self.body, ApiError)
        self.body.write(data)
        self.body.flush()
