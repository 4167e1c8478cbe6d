"""A model server for tests: a process of its own that speaks `/v1/chat/completions`, faults included.

What it does is chosen by a word anywhere in the user's message, such as
`fake:cut`; tests put it into the context, where it does not disturb the search.
`fake:cut@fake-1` is only for requests to the model `fake-1`; a request that no
word is for gets a happy answer. The word may also be in the name of the model. The
modes are the tables `SCRIPTS`, `REFUSALS` and `FLAKY`, and `statusNNN` for any
plain error status. A mode of `FLAKY` fails on the first request with its message
and model, so that message needs a word of its own.

With `fake:obey` it has no will of its own: it says whatever follows `SAY: ` in a line of any message, as a model
would that is taken in by what pages and readers write.

With `fake:shred` it says it in pieces that are cut anywhere, differently for each text.

With `fake:calls` it calls tools by the lines of the user's message, a round for each, and then says what `SAY: ` has,
where `[page:TITLE]` becomes the number of a passage from that page:

    CALL: search {"query": "labels"}
    CALL: search {"query": "labels"} && read_page {"path": "/guides/labels"}
    SAY: Print it [page:Printing labels].

`FIRST: text` comes before the first call. `THEN: mode` is what it does in place of saying something. With
`fake:calls_always` it repeats its last calls as long as it has tools.

Below `/NAME` it is a server of the table in `tests/dialects.py`, with its base URL, header of the key and parameters.
There `fake:wrong_key` and `fake:too_long` get its refusals.

It keeps what it saw: `GET /log` answers with one entry for each request, oldest
first; `GET /log?of=WORD` with those whose user's message holds the word. Times
are those of `time.monotonic()`, which all processes of a host share.
`GET /release?of=WORD` lets a request with that word go on in the mode `held`.

Refused connections and unknown hosts need no server: give the service an
address where nobody listens.

    python tests/upstream.py PORT
"""

import asyncio
import contextlib
import html
import json
import random
import re
import socket
import struct
import sys
import time
from typing import Any
from urllib.parse import unquote_plus, urlsplit

from dialects import DIALECTS, Dialect, error  # beside this script

SECRET = "secret details of http://10.0.0.7/v1, key sk-hidden"  # no reader may ever see this
LOG: list[dict[str, Any]] = []
RELEASED: set[str] = set()

# ---- Streams. A text is a piece of the answer, a dict an event, bytes go out as they are, a number is a pause in
# seconds. A script that ends closes the connection.

CUT = object()  # the connection is reset here
AGAIN = object()  # the script begins anew
LOOPED = object()  # one passage again and again
PASSAGE = "Restart the server and try it again. "
HELD = object()  # nothing more is sent until the test releases the request
FOREVER = 60.0


def _words(text: str, pause: float = 0.0) -> list[Any]:
    words = re.findall(r"\S+\s*", text)
    return [step for word in words for step in ((word, pause) if pause else (word,))]


def _shreds(text: str) -> list[str]:
    dice = random.Random(text)
    places = sorted(dice.sample(range(1, len(text)), min(len(text) - 1, 40)))
    return [text[begin:end] for begin, end in zip([0, *places], [*places, None], strict=True)]


def _delta(text: str) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]}


def _end(reason: str) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}


def _call(piece: dict[str, Any]) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, **piece}]}, "finish_reason": None}]}


def _data(event: dict[str, Any], end: str = "\n\n") -> bytes:
    return f"data: {json.dumps(event, ensure_ascii=False)}{end}".encode()


def _byte_by_byte(stream: bytes) -> list[Any]:
    """Each byte in a write of its own, so that every character, line end and event is split."""
    return [step for byte in stream for step in (bytes([byte]), 0.001)]


TEXT = _words("To install acme, run the command in [1]. More is in [2], and nothing in [9].")
LOG_FILE = "the log file `grebe.log` [2]"
SPLIT_TEXT = "Für 日本語\u2028und 😀 [1]."
ROLE = {"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}]}
STOP = _end("stop")
USAGE = {"choices": [], "usage": {"prompt_tokens": 812, "completion_tokens": 21}}
COUNTED = {"prompt_tokens": 3456, "completion_tokens": 21, "completion_tokens_details": {"reasoning_tokens": 9}}
DONE = b"data: [DONE]\n\n"
HAPPY = [ROLE, *TEXT, STOP, USAGE, DONE]
ERROR_EVENT = {"error": {"code": 503, "message": SECRET}}  # a number, as some servers have it

PIECES_OF_A_CALL = [
    {"id": "call_1", "function": {"name": "search", "arguments": ""}},
    {"function": {"arguments": "{}"}},
]


def _calls(round: str, rounds_before: int) -> list[Any]:
    """Steps that call the tools of one `CALL: ` line, each in pieces."""
    steps: list[Any] = []
    for index, call in enumerate(round.split(" && ")):
        name, _, arguments = call.strip().partition(" ")
        id = f"call_{rounds_before}_{index}"
        for piece in ({"id": id, "type": "function", "function": {"name": name, "arguments": ""}}, *(
            {"function": {"arguments": arguments[at : at + 7]}} for at in range(0, len(arguments), 7)
        )):  # fmt: skip
            steps.append(_call({**piece, "index": index}))
    return steps


SCRIPTS: dict[str, list[Any]] = {
    "happy": HAPPY,
    # For `manage.py checkmodel`.
    "checked": [ROLE, "It listens on port 7431 [1] ", f"and writes to {LOG_FILE}.", STOP, {"usage": COUNTED}, DONE],
    "forgetful": [ROLE, "I only see ", f"that it writes to {LOG_FILE}.", STOP, DONE],
    "call": [ROLE, *(_call(piece) for piece in PIECES_OF_A_CALL), _end("tool_calls"), DONE],
    "uncited": [ROLE, "It listens on port 7431 and writes to grebe.log.", STOP, DONE],
    "together": [ROLE, b"".join(map(_data, map(_delta, ("One, ", "two ", "[1], ", "three.")))), STOP, DONE],
    "thoughts": [ROLE, "<think>", "Hm.", _end("length"), DONE],
    # For `manage.py golden --evaluate`.
    "judge_right": [ROLE, '```json\n{"verdict": ', '"Right", "reason": "It tells it."}\n```', STOP, USAGE, DONE],
    "judge_wrong": [ROLE, '{"verdict": "wrong", "reason": "It tells something else."}', STOP, DONE],
    "judge_refused": [ROLE, '{"verdict": "refused", "reason": "It says so."}', STOP, USAGE, DONE],
    # Slow ones. `silent` sends the headers only; `processing` keeps a connection busy without a token.
    "slow": [ROLE, *_words("".join(TEXT), 0.05), STOP, USAGE, DONE],
    "slower": [ROLE, *_words("".join(TEXT), 0.25), STOP, USAGE, DONE],
    "slow_first": [ROLE, 2.0, *TEXT, STOP, USAGE, DONE],
    "silent": [FOREVER],
    "processing": [b": PROCESSING\n\n", ROLE, 0.05, AGAIN],
    "stall": [ROLE, *TEXT[:5], FOREVER],
    "held": [ROLE, *TEXT[:5], HELD, *TEXT[5:], STOP, USAGE, DONE],
    "endless": ["on ", 0.02, AGAIN],
    "huge": ["acme " * 800, 0.001, AGAIN],
    # Broken ones.
    "cut_start": [0.05, CUT],
    "cut": [ROLE, *TEXT[:5], 0.05, CUT],  # a reset also takes away what was sent and not yet read
    "malformed_start": [b'data: {"choices": ' + SECRET.encode() + b"\n\n", *HAPPY],
    "malformed": [ROLE, *TEXT[:5], b'data: {"choices": ' + SECRET.encode() + b"\n\n", *TEXT[5:], STOP, DONE],
    "error_event": [ERROR_EVENT],
    "error_event_late": [ROLE, *TEXT[:5], ERROR_EVENT],
    "endless_event": [b"data: ", b"x" * 65536, 0.001, AGAIN],
    "unfinished": [ROLE, *TEXT],
    "empty": [ROLE, STOP, USAGE, DONE],
    "blank": [ROLE, " ", "\n", STOP, USAGE, DONE],
    # Unusual ones that are right all the same.
    "length": [ROLE, *TEXT, _end("length"), USAGE, DONE],
    "max_tokens": [ROLE, *TEXT, _end("MAX_TOKENS"), USAGE, DONE],
    "filtered": [ROLE, *TEXT, _end("content_filter"), USAGE, DONE],
    "safety": [ROLE, *TEXT, _end("SAFETY"), DONE],
    "refused_at_length": [ROLE, *_words("NO_ANSWER The documentation does not cover it."), _end("length"), USAGE, DONE],
    "loop": [ROLE, *TEXT, "\n\n", LOOPED],
    "no_done": [ROLE, *TEXT, STOP, USAGE],
    "no_finish": [ROLE, *TEXT, USAGE, DONE],
    "no_usage": [ROLE, *TEXT, STOP, DONE],
    "null_usage": [ROLE, *({**_delta(word), "usage": None} for word in TEXT), {**STOP, "usage": None}, DONE],
    "no_choices": [{"choices": []}, ROLE, {"choices": []}, *TEXT, {"choices": None}, STOP, {"choices": []}, DONE],
    "split": _byte_by_byte(b"".join(_data(_delta(word)) for word in _words(SPLIT_TEXT)) + _data(STOP) + DONE),
    "crlf": [
        b": a comment\r\nretry: 10\r\n\r\n",
        *(b"event: message\r\nid: 7\r\n" + _data(_delta(word), "\r\n\r\n") + b": ping\r\n\r\n" for word in TEXT),
        *_byte_by_byte(_data(STOP, "\r\n\r\n")),
        b"data: [DONE]\r\n\r\n",
    ],
}

# ---- Refusals: status, body, headers.

JSON = {"Content-Type": "application/json"}
PLAIN_ERROR = json.dumps({"error": {"message": SECRET, "code": None}})
REFUSALS: dict[str, tuple[int, str, dict[str, str]]] = {
    "nameless": (400, '{"error":"Bad Request"}', JSON),  # to a request with tools
    # Groq, when its model calls a tool in a wrong way. Only a request with tools is refused.
    "failed_call": (
        400,
        '{"error":{"message":"Failed to call a function.","type":"invalid_request_error","code":"tool_use_failed"}}',
        JSON,
    ),
    "refuse": (500, PLAIN_ERROR, JSON),
    "wait1": (429, PLAIN_ERROR, {**JSON, "Retry-After": "1"}),
    "wait3": (429, PLAIN_ERROR, {**JSON, "Retry-After": "3"}),
    "wait60": (429, PLAIN_ERROR, {**JSON, "Retry-After": "60"}),
    # llama.cpp while it loads.
    "loading": (503, '{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}', JSON),
    "numeric_error": (500, json.dumps({"error": 500, "code": 42, "message": SECRET}), JSON),
    "html": (200, f"<!doctype html><title>Sign in</title><p>{SECRET}", {"Content-Type": "text/html"}),
    # OpenAI's newer models.
    "max_completion_tokens": (
        400,
        '{"error":{"message":"Unsupported parameter: \'max_tokens\' is not supported with this model. '
        'Use \'max_completion_tokens\' instead.","param":"max_tokens","code":"unsupported_parameter"}}',
        JSON,
    ),
}
FLAKY = {"flaky500": "status500", "flaky429": "wait1"}


class Call:
    """One request, its entry in the log, and the connection it came on."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, head: str, request: dict[str, Any]):
        self.reader, self.writer, self.request = reader, writer, request
        headers = {name.lower(): value for name, value in re.findall(r"^([\w-]+): (.*?)\r?$", head, re.MULTILINE)}
        self.entry: dict[str, Any] = {
            **request,
            "mode": _mode(request),
            **{name: headers.get(name, "") for name in ("authorization", "api-key")},
            "at": time.monotonic(),
            "sent": 0,  # pieces of text
            "ended": "",
            "ended_at": None,
        }

    async def answer_as(self, dialect: Dialect) -> None:
        """Do what a server of this dialect does."""
        LOG.append(self.entry)
        refusals = [refusal for name, refusal in dialect.refused.items() if name in self.request]
        if self.entry["mode"] == "wrong_key" or self.entry[dialect.key_header] != f"{dialect.key_prefix}sk-fake":
            status, body = dialect.wrong_key
        elif self.entry["mode"] == "too_long":
            status, body = dialect.too_long
        else:
            status, body = refusals[0] if refusals else (200, dialect.script)
            called = [message for message in self.request["messages"] if "tool_calls" in message]
            if called and dialect.wanted_back not in ("", *called[-1], *called[-1]["tool_calls"][0]):
                status, body = 400, error(f"{dialect.wanted_back} is missing")
            elif status == 200 and "tools" in self.request and not called:
                body = dialect.calls
        if status == 200:
            await self._play(body)
        else:
            await send(self.writer, status, json.dumps(body))

    async def answer(self) -> None:
        """Do what the mode says."""
        mode = self.entry["mode"]
        if mode in FLAKY:
            mode = "happy" if self._was_asked_before() else FLAKY[mode]
        if mode == "checked" and "tools" in self.request and "<passage" not in _question(self.request):
            mode = "call"
        if mode == "calling":
            mode = "call" if "tools" in self.request else "checked"
        if mode == "forgetful" and len(json.dumps(self.request)) < 4 * 4096:
            mode = "checked"
        if mode in ("failed_call", "nameless") and "tools" not in self.request:
            mode = "happy"
        if mode == "max_completion_tokens" and "max_tokens" not in self.request:
            mode = "happy"
        LOG.append(self.entry)
        try:
            if mode == "hang":  # not even headers
                await self._pause(FOREVER)
            elif mode == "hang_up":
                self._ended("cut")
            elif mode == "obey":
                await self._play([ROLE, *_words(_ordered(self.request)), STOP, USAGE, DONE])
            elif mode == "shred":
                await self._play([ROLE, *_shreds(_ordered(self.request)), STOP, USAGE, DONE])
            elif mode in ("calls", "calls_always"):
                await self._call_tools(mode)
            elif mode in SCRIPTS:
                await self._play(SCRIPTS[mode])
            else:
                status = re.fullmatch(r"status(\d{3})", mode)
                refusal = (int(status[1]), PLAIN_ERROR, JSON) if status else REFUSALS[mode]
                await send(self.writer, *refusal)
                self._ended("refused")
        except ConnectionError:
            self._ended("closed by the client")
            raise

    async def _play(self, script: list[Any]) -> None:
        kind = b"Content-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
        self.writer.write(b"HTTP/1.1 200 OK\r\n" + kind)
        position = 0
        while position < len(script):
            step = script[position]
            position += 1
            if step is CUT:
                linger = struct.pack("ii", 1, 0)  # closing is then a reset, not an orderly end
                self.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                self.writer.transport.abort()
                self._ended("cut")
                return
            if step is AGAIN:
                position = 0
            elif step is LOOPED:
                script = [*_words(PASSAGE), 0.01, AGAIN]
                position = 0
            elif step is HELD:
                while not any(word in _question(self.request) for word in RELEASED):
                    if await self._pause(0.02):
                        return
            elif isinstance(step, float):
                if await self._pause(step):
                    return
            else:
                event = _delta(step) if isinstance(step, str) else step
                chunk = event if isinstance(event, bytes) else _data(event)
                self.writer.write(b"%x\r\n%b\r\n" % (len(chunk), chunk))
                self.entry["sent"] += isinstance(step, str)
                await self.writer.drain()
        self.writer.write(b"0\r\n\r\n")
        await self.writer.drain()
        self._ended("complete")

    async def _call_tools(self, mode: str) -> None:
        """Do what the lines of the question say."""
        question = _question(self.request)
        lines = [
            (kind, html.unescape(text))
            for kind, text in re.findall(r"^(CALL|FIRST|THEN): (.*)$", question, re.MULTILINE)
        ]
        rounds = [text for kind, text in lines if kind == "CALL"]
        done = sum("tool_calls" in message for message in self.request["messages"])
        first = [_delta(text) for kind, text in lines if kind == "FIRST" and not done]
        then = next((text for kind, text in lines if kind == "THEN"), "")
        if mode == "calls_always":
            rounds += rounds[-1:] * (done + 1)
        if done < len(rounds) and self.request.get("tools"):
            await self._play([ROLE, *first, *_calls(rounds[done], done), _end("tool_calls"), USAGE, DONE])
        elif status := re.fullmatch(r"status(\d{3})", then):
            await send(self.writer, int(status[1]), PLAIN_ERROR)
        else:
            await self._play(SCRIPTS[then] if then else [ROLE, *_words(_ordered(self.request)), STOP, USAGE, DONE])

    async def _pause(self, seconds: float) -> bool:
        """Wait; whether the client closed the connection meanwhile."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                if await self.reader.read(1) == b"":
                    self._ended("closed by the client")
                    return True
        return False

    def _ended(self, how: str) -> None:
        self.entry.update(ended=how, ended_at=time.monotonic())

    def _was_asked_before(self) -> bool:
        return any(
            (entry["model"], entry["messages"]) == (self.request["model"], self.request["messages"]) for entry in LOG
        )


def _ordered(request: dict[str, Any]) -> str:
    """What anybody who got a word into the request wants to have said."""
    prompt = "\n".join(message["content"] or "" for message in request["messages"])
    orders = " ".join(html.unescape(order) for order in re.findall(r"(?:SAY|say): ?(.*?)(?=\n|$)", prompt))
    numbers = {
        title: number for number, title in re.findall(r'<passage number="(\d+)" page="([^">]*?)[ "]*[">]', prompt)
    }
    return re.sub(r"\[page:(.*?)\]", lambda found: f"[{numbers.get(found[1], 'nowhere')}]", orders)


def _question(request: dict[str, Any]) -> str:
    """The user's last message."""
    return next(message["content"] for message in reversed(request["messages"]) if message["role"] == "user")


def _mode(request: dict[str, Any]) -> str:
    words = re.findall(r"fake:(\w+)(?:@([\w.-]+))?", f"{_question(request)} {request['model']}")
    return next((mode for mode, model in words if model in ("", request["model"])), "happy")


def _dialect(path: str) -> Dialect | None:
    """The dialect of a path that is exactly right for it."""
    name = path[1:].partition("/")[0]
    if name not in DIALECTS:
        return None
    base = urlsplit(DIALECTS[name].base)
    query = f"?{base.query}" if base.query else ""
    return DIALECTS[name] if path == f"/{name}{base.path}/chat/completions{query}" else None


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """One connection, one request."""
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        length = re.search(r"content-length: (\d+)", head, re.IGNORECASE)
        body = await reader.readexactly(int(length[1])) if length else b""
        path = head.split(" ", 2)[1]
        if path.startswith("/log"):
            word = unquote_plus(path.partition("?of=")[2])
            await send(writer, 200, json.dumps([entry for entry in LOG if word in _question(entry)]))
        elif dialect := _dialect(path):
            await Call(reader, writer, head, json.loads(body)).answer_as(dialect)
        elif path.startswith("/release"):
            RELEASED.add(unquote_plus(path.partition("?of=")[2]))
            await send(writer, 200, "{}")
        elif path.endswith("/v1/chat/completions"):
            await Call(reader, writer, head, json.loads(body)).answer()
        else:
            await send(writer, 404, '{"error": "no such path"}')
    except (ConnectionError, asyncio.IncompleteReadError):
        pass
    finally:
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()


async def send(writer: asyncio.StreamWriter, status: int, body: str, headers: dict[str, str] = JSON) -> None:
    """Answer with a whole body."""
    lines = {**headers, "Content-Length": str(len(body.encode())), "Connection": "close"}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    writer.write(f"HTTP/1.1 {status} X\r\n{head}\r\n{body}".encode())
    await writer.drain()


async def main(port: int) -> None:
    """Serve until killed."""
    server = await asyncio.start_server(serve, "127.0.0.1", port, backlog=1000)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
