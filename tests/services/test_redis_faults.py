"""What readers and the operator get while Redis is away."""

import httpx
import pytest

from tests.conftest import PATIENCE, question, wait_for
from tests.ports import free_port
from tests.services.conftest import start_redis

pytestmark = pytest.mark.services


@pytest.mark.matrix
def test_redis_away_is_one_line_a_503_and_not_ready(start, project):
    port = free_port()
    server = start_redis(port)
    service = start.fresh(REDIS_URL=f"redis://127.0.0.1:{port}/0")
    message = f"/discovery/v2/assistant/{project.domain}/message"
    with httpx.Client(base_url=service.url, timeout=PATIENCE, trust_env=False, verify=False) as http:

        def ask() -> int:
            body = question("How do I install acme?", id="chat-1")
            return http.post(message, json=body, headers=project.assistant).status_code

        def resume() -> int:
            return http.get(f"{message}/chat-1/stream", headers=project.assistant).status_code

        assert (ask(), resume()) == (200, 204)
        assert http.get("/health/ready").json()["limits"] == "ok"
        server.kill()
        server.wait(PATIENCE)
        assert {ask() for _ in range(3)} == {503}
        assert {resume() for _ in range(3)} == {503}, "it may run elsewhere"
        ready = http.get("/health/ready")
        assert ready.status_code == 503
        assert "Error" in ready.json()["limits"]
        log = service.log.read_text()
        assert (log.count("Redis does not work"), log.count("Traceback")) == (1, 0), log
        server = start_redis(port)
        wait_for(lambda: ask() == 200, "Redis")
        wait_for(lambda: "Redis works again" in service.log.read_text() or not ask(), "a line")
        assert http.get("/health/ready").status_code == 200
    server.terminate()
    server.wait(PATIENCE)
