"""`manage.py agentaddresses`: store the addresses that operators publish for their agents."""

from pathlib import Path
from typing import Any

import httpx
from django.core.management.base import CommandError, CommandParser

from analytics import agents
from analytics.collecting import verification
from analytics.models import AgentAddresses, AgentViews
from docsite.core.tenants.management.base import ServiceCommand

_MAX_BYTES = 5_000_000
_SECONDS = 20.0


class Command(ServiceCommand):
    """Stores addresses of agents. Views of these agents are then marked as verified or as claimed only."""

    help = (
        "Store the addresses of an agent from the JSON file that its operator publishes, or from its https address. "
        "From then on, views in its name are marked as verified if they come from these addresses, else as claimed "
        "only. No count changes. Without arguments, list the stored addresses."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """An agent and its file, or a change of the stored addresses."""
        parser.add_argument("agent", nargs="?", help="name of the agent, such as GPTBot")
        parser.add_argument("source", nargs="?", help="file or https address")
        parser.add_argument("--refresh", action="store_true", help="download all https addresses again")
        parser.add_argument("--remove", action="store_true", help="delete the agent's addresses")

    def handle(self, *args: Any, **options: Any) -> None:
        """Store, refresh, remove or list."""
        agent, source = options["agent"], options["source"]
        if options["refresh"]:
            self._refresh()
        elif agent and options["remove"]:
            removed, _ = AgentAddresses.objects.filter(agent__iexact=agent).delete()
            self.stdout.write(f"{agent}: {'addresses deleted' if removed else 'it had no addresses'}.")
        elif agent and source:
            self._store(_find_name(agent), source)
        elif agent or options["remove"]:
            raise CommandError("Name an agent and its file or https address, or an agent and --remove.")
        else:
            self._list()
        verification.invalidate()

    def _store(self, agent: str, source: str) -> None:
        networks = _load_ranges(source)
        AgentAddresses.objects.update_or_create(agent=agent, defaults={"networks": networks, "source": source})
        self.stdout.write(f"{agent}: {len(networks):,} ranges from {source}. Running processes follow within a minute.")
        self.stdout.write("Newer addresses later: manage.py agentaddresses --refresh")

    def _refresh(self) -> None:
        failed = 0
        for row in AgentAddresses.objects.filter(source__startswith="https://"):
            try:
                self._store(row.agent, row.source)
            except CommandError as failure:
                failed += 1
                self.stderr.write(self.style.WARNING(f"{row.agent}: {failure} The old addresses stay."))
        if failed:
            raise CommandError(f"{failed} could not be read.")

    def _list(self) -> None:
        rows = list(AgentAddresses.objects.all())
        for row in rows:
            self.stdout.write(
                f"{row.agent}: {len(row.networks):,} ranges, read {row.read_at:%Y-%m-%d} from {row.source}"
            )
        if not rows:
            self.stdout.write(
                "No addresses are stored, so no agent is verified. Operators publish them as JSON; for example:\n"
                "  manage.py agentaddresses GPTBot https://openai.com/gptbot.json"
            )


def _find_name(agent: str) -> str:
    """The agent's name as the rules spell it, or as stored views have it."""
    verdict = agents.classify(f"{agent}/1.0")
    if verdict.agent.lower() == agent.lower() and verdict.operator:
        return verdict.agent
    seen = AgentViews.objects.filter(agent__iexact=agent).values_list("agent", flat=True).first()
    if seen is None:
        raise CommandError(
            f"No rule names an agent {agent}, and no view came from one. See: manage.py classify '{agent}'"
        )
    return seen


def _load_ranges(source: str) -> list[str]:
    try:
        text = _fetch(source) if source.startswith("https://") else Path(source).read_text()
        return verification.parse(text)
    except OSError as failure:
        raise CommandError(f"{source}: {failure.strerror}.") from None
    except UnicodeDecodeError:
        raise CommandError(f"{source} is not a text file.") from None
    except ValueError as wrong:
        raise CommandError(f"{source} {wrong}.") from None


def _fetch(url: str) -> str:
    body = b""
    try:
        with httpx.stream("GET", url, timeout=_SECONDS, follow_redirects=True) as response:
            if response.status_code != 200 or response.url.scheme != "https":
                raise CommandError(f"{url} answered {response.status_code}.")
            for chunk in response.iter_bytes():
                body += chunk
                if len(body) > _MAX_BYTES:
                    raise CommandError(f"{url} is longer than {_MAX_BYTES // 1_000_000} MB.")
    except httpx.HTTPError as failure:
        raise CommandError(f"{url} cannot be read ({type(failure).__name__}).") from None
    return body.decode()
