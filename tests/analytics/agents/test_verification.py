"""Agents held against the addresses that their operators publish."""

import json
import uuid
from datetime import UTC, datetime, timedelta

import pytest
from django.core.management import CommandError

from analytics.collecting import verification
from analytics.collecting.recording import Observation, record
from analytics.counting import agent_views, sealer
from analytics.models import AgentAddresses, PageView
from docsite.core.http.client_address import parse_address
from tests.analytics.conftest import CHROME, GPTBOT
from tests.docsite.core.test_commands import run

FILE = {
    "creationTime": "2026-03-10T00:00:00",
    "prefixes": [
        {"ipv4Prefix": "192.0.2.0/25"},
        {"ipv4Prefix": "192.0.2.64/26"},
        {"ipv4Prefix": "198.51.100.7"},
        {"ipv6Prefix": "2001:db8:1::/48"},
    ],
}


@pytest.fixture
def file(tmp_path):
    """An operator's file."""
    path = tmp_path / "gptbot.json"
    path.write_text(json.dumps(FILE))
    yield path
    AgentAddresses.objects.all().delete()
    verification.invalidate()


def marks(project, *visits):
    """How views by (address, user agent) are marked."""
    for address, user_agent in visits:
        record(project, [Observation(uuid.uuid4().hex, "/", datetime.now(UTC), parse_address(address), user_agent)])
    return list(PageView.objects.filter(project=project).order_by("pk").values_list("verified", flat=True))


def test_agents_are_marked_by_where_they_come_from(make_project, file):
    project = make_project().project
    assert marks(project, ("192.0.2.1", GPTBOT)) == [""], "there is nothing to hold it against"
    assert run("agentaddresses", "gptbot", str(file)).startswith("GPTBot: 4 ranges")
    parsed = marks(
        project,
        ("192.0.2.127", GPTBOT),
        ("192.0.2.128", GPTBOT),
        ("192.0.1.255", GPTBOT),
        ("198.51.100.7", GPTBOT),
        ("2001:db8:1:ffff::1", GPTBOT),
        ("2001:db8:2::1", GPTBOT),
        ("192.0.2.1", "Mozilla/5.0 (compatible; ClaudeBot/1.0)"),
        ("192.0.2.1", CHROME),
    )
    assert parsed == ["", "yes", "no", "no", "yes", "yes", "no", "", ""]
    sealer.seal()
    (gptbot,) = [
        agent
        for agent in agent_views.list_agents(project, datetime.now(UTC) - timedelta(hours=2), datetime.now(UTC))
        if agent.name == "GPTBot"
    ]
    assert gptbot.verified == {"": 1, "yes": 3, "no": 3}
    assert "4 ranges" in run("agentaddresses")
    assert "deleted" in run("agentaddresses", "GPTBot", "--remove")
    assert marks(project, ("192.0.2.127", GPTBOT))[-1] == ""


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("{}", 'must hold a list "prefixes"'),
        ('{"prefixes": []}', 'must hold a list "prefixes"'),
        ('{"prefixes": [{"ipv4Prefix": "192.0.2.0/24"}, {"ipv4Prefix": "x"}]}', "prefixes[1] is not a CIDR range"),
        ('{"prefixes": [{}]}', "prefixes[0] is not a CIDR range"),
        ('{"prefixes": [1]}', "prefixes[0] is not a CIDR range"),
        ('["0.0.0.0/0"]', "prefixes[0] covers every address"),
    ],
)
def test_a_bad_file_is_named_and_nothing_is_kept(tmp_path, text, wrong):
    path = tmp_path / "file.json"
    path.write_text(text)
    with pytest.raises(CommandError) as failure:
        run("agentaddresses", "GPTBot", str(path))
    assert str(failure.value).startswith(f"{path} {wrong}")
    assert not AgentAddresses.objects.exists()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["GPTBot"], "Name an agent and its file"),
        (["--remove"], "Name an agent and its file"),
        (["No such agent/", "x.json"], "No rule names an agent No such agent/, and no view came from one."),
        (["GTPBot", "x.json"], "No rule names an agent GTPBot"),
        (["GPTBot", "/no/such/file"], "/no/such/file: No such file"),
        (["GPTBot", "https://127.0.0.1:9/x.json"], "https://127.0.0.1:9/x.json cannot be read (ConnectError)"),
    ],
)
def test_mistakes_are_told_in_a_sentence(arguments, expected):
    with pytest.raises(CommandError) as failure:
        run("agentaddresses", *arguments)
    assert str(failure.value).startswith(expected)


def test_a_plain_list_of_ranges_will_do():
    assert verification.parse('["192.0.2.1", "2001:db8::/32"]') == ["192.0.2.1/32", "2001:db8::/32"]


def test_what_cannot_be_refreshed_stays(file):
    run("agentaddresses", "GPTBot", str(file))
    AgentAddresses.objects.update(source="https://127.0.0.1:9/x.json")
    with pytest.raises(CommandError, match="1 could not be read"):
        run("agentaddresses", "--refresh")
    assert len(AgentAddresses.objects.get().networks) == 4
