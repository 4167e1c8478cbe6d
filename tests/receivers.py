"""What deliveries arrive at: a real mail server, and a real HTTP server that verifies signatures with its own code."""

import base64
import contextlib
import hashlib
import hmac
import json
import os
import threading
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from aiosmtpd.controller import Controller

from tests.ports import free_port


@dataclass
class MailServer:
    """The mail that arrived. `refusals` has answers such as `451 later` to the next messages for a recipient."""

    url: str
    mail: list[EmailMessage] = field(default_factory=list)
    recipients: list[str] = field(default_factory=list)
    refusals: dict[str, list[str]] = field(default_factory=dict)

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        """Take a message, or refuse it."""
        if answers := self.refusals.get(envelope.rcpt_tos[0]):
            return answers.pop(0)
        self.mail.append(message_from_bytes(envelope.content, policy=policy.default))  # type: ignore[arg-type]
        self.recipients += envelope.rcpt_tos
        return "250 ok"


@contextlib.contextmanager
def serve_mail(port: int = 0, **options: Any) -> Iterator[MailServer]:
    """Run a mail server in a thread. The options are those of aiosmtpd's `SMTP`."""
    port = port or free_port()
    server = MailServer(f"smtp://127.0.0.1:{port}")
    controller = Controller(server, hostname="127.0.0.1", port=port, **options)
    controller.start()
    try:
        yield server
    finally:
        controller.stop()


@dataclass
class Receiver:
    """The webhook calls that arrived. It answers the next ones with `statuses` and a `body`, and then with 204."""

    url: str
    port: int
    calls: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)
    body: bytes = b""
    delay: float = 0  # seconds before each answer

    @property
    def events(self) -> list[dict[str, Any]]:
        """The bodies."""
        return [json.loads(body) for _, body in self.calls]

    @property
    def ids(self) -> list[str]:
        """The ids of the events, one for each call."""
        return [headers["webhook-id"] for headers, _ in self.calls]

    def is_signed(self, secret: str, number: int = -1) -> bool:
        """Whether a call has a valid signature of a secret and a recent time, by the letter of the specification."""
        headers, body = self.calls[number]
        signed = headers["webhook-id"].encode() + b"." + headers["webhook-timestamp"].encode() + b"." + body
        key = base64.b64decode(secret.split("_", 1)[1])
        wanted = base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
        given = [text.split(",", 1)[1] for text in headers["webhook-signature"].split(" ") if text.startswith("v1,")]
        is_recent = abs(time.time() - int(headers["webhook-timestamp"])) < 300
        return is_recent and any(hmac.compare_digest(wanted, text) for text in given)


@contextlib.contextmanager
def serve_webhook() -> Iterator[Receiver]:
    """Run a receiver of webhooks in a thread, at the one address that every process under test may call."""
    port = int(os.environ["WEBHOOK_PRIVATE_HOSTS"].rpartition(":")[2])
    path = f"/{uuid.uuid4().hex}"  # processes of other tests may still repeat calls of theirs
    receiver = Receiver(f"http://127.0.0.1:{port}{path}", port)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            status, answer = 204, b""
            if self.path == path:
                receiver.calls.append(({name.lower(): value for name, value in self.headers.items()}, body))
                if receiver.statuses:
                    status, answer = receiver.statuses.pop(0), receiver.body
            time.sleep(receiver.delay)
            self.send_response(status)
            self.send_header("Location", receiver.url)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *args: Any) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()
