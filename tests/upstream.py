"""A model server for tests: a process of its own that speaks `/v1/chat/completions`, faults included.

What it does is chosen by a word anywhere in the user's message, such as
`fake:cut`; tests put it into the context, where it does not disturb the search.
It keeps what it saw: `GET /log` answers with one entry for each request.

    python tests/upstream.py PORT
"""

import asyncio
import contextlib
import json
import re
import sys

TEXT = "To install acme, run the command in [1]. More is in [2], and nothing in [9]."
LOG: list[dict[str, object]] = []


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """One connection, one request."""
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        length = re.search(r"content-length: (\d+)", head, re.IGNORECASE)
        body = await reader.readexactly(int(length[1])) if length else b""
        if head.startswith("GET /log"):
            await _plain(writer, 200, json.dumps(LOG))
        elif "/chat/completions" in head.split("\r\n", 1)[0]:
            await _complete(reader, writer, head, json.loads(body))
        else:
            await _plain(writer, 404, '{"error": "no such path"}')
    except (ConnectionError, asyncio.IncompleteReadError):
        pass
    finally:
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()


async def _complete(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, head: str, request: dict) -> None:
    asked = request["messages"][-1]["content"]
    found = re.search(r"fake:(\w+)", asked)
    mode = found[1] if found else "happy"
    authorization = re.search(r"authorization: (.*)", head, re.IGNORECASE)
    entry: dict[str, object] = {
        "mode": mode, "messages": request["messages"], "model": request["model"], "stream": request["stream"],
        "authorization": authorization[1].strip() if authorization else "", "sent": 0, "ended": "",
    }  # fmt: skip
    LOG.append(entry)
    if mode == "refuse":
        await _plain(writer, 500, '{"error": {"message": "secret details of the server"}}')
        return
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
    if mode == "silent":
        await _until_closed(reader, entry, 30)
        return
    pause = {"slow": 0.05, "endless": 0.02}.get(mode, 0.0)
    words = re.findall(r"\S+\s*", TEXT) if mode != "endless" else ["on "] * 2_000
    for number, word in enumerate(words):
        if mode == "cut" and number == 5:
            entry["ended"] = "cut"
            writer.transport.abort()
            return
        _event(writer, {"choices": [{"index": 0, "delta": {"content": word}}]})
        entry["sent"] = number + 1
        await writer.drain()
        if pause and await _until_closed(reader, entry, pause):
            return
    _event(writer, {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    _event(writer, {"choices": [], "usage": {"prompt_tokens": 812, "completion_tokens": 21}})
    writer.write(b"data: [DONE]\n\n")
    await writer.drain()
    entry["ended"] = "complete"


async def _until_closed(reader: asyncio.StreamReader, entry: dict[str, object], seconds: float) -> bool:
    """Wait; whether the client closed the connection meanwhile."""
    try:
        async with asyncio.timeout(seconds):
            if await reader.read(1) == b"":
                entry["ended"] = "closed by the client"
                return True
    except TimeoutError:
        pass
    return False


def _event(writer: asyncio.StreamWriter, event: dict[str, object]) -> None:
    writer.write(b"data: " + json.dumps(event).encode() + b"\n\n")


async def _plain(writer: asyncio.StreamWriter, status: int, body: str) -> None:
    head = f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    writer.write(f"{head}Connection: close\r\n\r\n{body}".encode())
    await writer.drain()


async def main(port: int) -> None:
    """Serve until killed."""
    server = await asyncio.start_server(serve, "127.0.0.1", port)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
