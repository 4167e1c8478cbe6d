"""A model server with one answer, for pictures: an OpenAI-compatible endpoint that streams prepared text."""

import json
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MODEL = "prepared-answer"
QUESTION = "How do I put the widget on my site?"
# A title in brackets becomes the number of its passage, as a model cites it.
ANSWER = """Put one script tag into the layout of your pages, before `</head>` or `</body>` [Widget and search]:

```html
<script async src="https://docs-service.example.com/widget.js"
        data-domain="acme" data-key="svc_dsc_…"></script>
```

- `data-domain` is the project's domain, and `data-key` an assistant key of that project. The key is public by \
design [Widget and search].
- The page's origin must be allowed [Widget and search].

The tag loads six kilobytes; the rest loads when a reader first points at the launcher [Widget and search]."""
PAUSE = 0.045  # seconds before each word: some twenty a second


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        prompt = "\n".join(message["content"] or "" for message in request["messages"])
        passages = re.findall(r'<passage number="(\d+)" page="([^">]*?)[ "]*[">]', prompt)
        numbers = {
            title: number for number, title in reversed(passages)
        }  # the first of each page; a test of the model has none
        answer = re.sub(r"\[([A-Z][^\]]+)\]", lambda found: f"[{numbers.get(found[1], '1')}]", ANSWER)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for word in re.findall(r"\S+\s*", answer):
            time.sleep(PAUSE)
            self._send({"choices": [{"index": 0, "delta": {"content": word}}]})
        self._send({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
        self.wfile.write(b"data: [DONE]\n\n")

    def _send(self, event: dict[str, object]) -> None:
        self.wfile.write(f"data: {json.dumps(event)}\n\n".encode())
        self.wfile.flush()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def serve() -> Iterator[dict[str, str]]:
    """The settings of a service that asks it."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/v1"
    yield {"OPENAI_BASE_URL": address, "OPENAI_API_KEY": "none", "OPENAI_MODEL": MODEL}
    server.shutdown()
