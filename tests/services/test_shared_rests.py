"""A model that failed in one process is not asked by the other, over a real Redis."""

import uuid

import httpx
import pytest

from tests.conftest import PATIENCE, fake, question, wait_for
from tests.processes import constants

pytestmark = pytest.mark.services


@pytest.mark.matrix
def test_a_model_that_failed_in_one_process_rests_in_the_other(start, upstream, redis, project):
    environment = {
        "OPENAI_BASE_URL": f"{upstream.url}/v1",
        "OPENAI_MODEL": f"fake-{uuid.uuid4().hex}",  # its state in Redis is its own
        **constants({"assistant.upstream.breaker.MAX_FAILURES": 2}),
        "REDIS_URL": redis,
    }
    one, other = start.fresh(**environment), start.fresh(**environment)

    with httpx.Client(timeout=PATIENCE, trust_env=False) as http:

        def ask(service, mode: str) -> int:
            """Ask, and return how many requests the model got."""
            marker = uuid.uuid4().hex
            body = question("How do I install acme with pip?", context=fake(mode, marker))
            url = f"{service.url}/discovery/v1/assistant/{project.domain}/message"
            assert http.post(url, json=body, headers=project.assistant).status_code == 200
            return len(upstream.asked(marker))

        assert ask(other, "happy") == 1
        for _ in range(2):
            assert ask(one, "malformed_start") >= 1
        assert ask(one, "happy") == 0
        wait_for(lambda: ask(other, "happy") == 0, "the other process to look")
    assert one.log.read_text().count("does not work") == 1
    assert "does not work" not in other.log.read_text()
