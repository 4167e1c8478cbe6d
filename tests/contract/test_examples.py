"""The components on the page about useChat, as they stand there, with the releases that they are said to run with."""

import json
import re
import subprocess
from typing import Any

import pytest

from docsite.site.navigation import CONTENT
from tests.contract.browser import HERE, NODE

pytestmark = pytest.mark.node


@pytest.mark.matrix
def test_the_examples_of_the_page_hold_a_conversation_with_every_release(service: Any, project: Any) -> None:
    page = (CONTENT / "assistant-api.md").read_text()
    later, four = re.findall(r"```tsx\n(import .*?)```", page, re.DOTALL)
    examples = {"ai4-newest": four, "ai5-newest": later, "ai6-newest": later, "ai7-newest": later}
    scenario = {"url": service.url, "domain": project.domain, "key": project.assistant_key, "examples": examples}
    ended = subprocess.run(
        [NODE, HERE / "example.mjs"], input=json.dumps(scenario), capture_output=True, text=True, check=False
    )
    assert not ended.returncode, ended.stderr
    for release, shown in json.loads(ended.stdout).items():
        assert (release, shown["alert"]) == (release, None)
        question, answer, follow_up, second = shown["articles"]
        assert question["text"] == "How do I install acme with pip?"
        assert "pip install acme" in answer["text"]
        assert answer["links"][0] == "https://docs.acme.example/install"
        assert follow_up["text"] == "And from source?"
        assert "make install" in second["text"]
        first, next_one = shown["sent"]
        assert first["threadId"] is None
        assert next_one["threadId"].startswith("thr_")
        assert next_one["currentPath"] == "/install"
