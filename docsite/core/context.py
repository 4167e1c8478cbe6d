"""What the running code works for: the id of the request, who acts, who is charged, how long the database may take.

All are context variables: tasks and the threads of `in_db` and `sync_to_async` inherit them.
"""

import getpass
import os
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")

request_id: ContextVar[str] = ContextVar("request_id", default="")
_network: ContextVar[Callable[[], str] | None] = ContextVar("network", default=None)
_actor: ContextVar[Callable[[], str] | None] = ContextVar("actor", default=None)
cpu_meter: ContextVar[Callable[[float], None] | None] = ContextVar("cpu_meter", default=None)  # takes seconds
allows_stale: ContextVar[bool] = ContextVar("allows_stale", default=False)  # see `authentication.allow_stale`
NO_ANSWER = "the database did not answer in time"
database_deadline: ContextVar[float | None] = ContextVar("database_deadline", default=None)  # by time.monotonic()


@contextmanager
def bind(variable: ContextVar[T], value: T) -> Iterator[T]:
    """Give a context variable a value within the block."""
    token = variable.set(value)
    try:
        yield value
    finally:
        variable.reset(token)


def limit_database_time(seconds: float | None) -> AbstractContextManager[float | None]:
    """Give the database so many seconds for the block; None: as long as it takes."""
    return bind(database_deadline, None if seconds is None else time.monotonic() + seconds)


@contextmanager
def measure_cpu_time() -> Iterator[None]:
    """Report the CPU time of this thread in the block to the meter of the context, if it has one."""
    meter = cpu_meter.get()
    began = time.thread_time() if meter else 0
    try:
        yield
    finally:
        if meter:
            meter(time.thread_time() - began)


def extend_database_time(seconds: float) -> None:
    """Give the database so many seconds more, since the request has waited for something else."""
    if (deadline := database_deadline.get()) is not None:
        database_deadline.set(deadline + seconds)


def create_request_id() -> str:
    """64 random bits in hexadecimal."""
    return secrets.token_hex(8)


def new_request_id() -> str:
    """Give the running request a new id, and return it."""
    identifier = create_request_id()
    request_id.set(identifier)
    return identifier


def set_actor(name: Callable[[], str]) -> None:
    """Set who acts from now on. The function is called when the name is needed."""
    _actor.set(name)


def set_command_as_actor(name: str) -> None:
    """Set that a command acts, which a user of the system runs."""
    set_actor(lambda: f"command {name} ({_system_user()})")


def set_network(find: Callable[[], str]) -> None:
    """Set where the actor is from now on. The function is called when the network is needed."""
    _network.set(find)


def get_network() -> str:
    """The network of the client that sent the request. Empty: no request is served."""
    find = _network.get()
    return find() if find else ""


def _system_user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container may run under a number without a name
        return f"user {os.getuid()}"


def get_actor() -> str:
    """Who acts: the name of a user, or a command with the user of the system. Empty: the service itself."""
    name = _actor.get()
    return name() if name else ""
