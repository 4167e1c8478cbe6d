"""The base class of the commands of the service: errors are one sentence, not a traceback."""

import argparse
import os
import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db.utils import OperationalError, ProgrammingError

from docsite.core import context
from docsite.core.db import list_missing_migrations
from docsite.core.signals import command_started
from docsite.core.tenants.models import Project

MAX_LISTED = 10  # projects in the error for an unknown domain
NOT_MIGRATED = "The database is behind the code. Run first: python manage.py migrate"


class ServiceCommand(BaseCommand):
    """A command that reports database errors as a sentence."""

    def create_parser(self, prog_name: str, subcommand: str, **options: Any) -> CommandParser:
        """A parser in which `--version` may be that of the documentation instead of Django's."""
        return super().create_parser(prog_name, subcommand, conflict_handler="resolve", **options)

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Run the command. The audit names it."""
        name = type(self).__module__.rpartition(".")[2]
        context.set_command_as_actor(name)
        try:
            command_started.send(type(self), name=name, domain=str(options.get("domain") or ""))
            return super().execute(*args, **options)
        except KeyboardInterrupt:
            raise CommandError("Stopped. It can be started again.", returncode=130) from None
        except BrokenPipeError:  # the program that reads the output has closed the pipe
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise SystemExit(1) from None
        except ProgrammingError:
            raise CommandError(NOT_MIGRATED) from None
        except OperationalError as failure:
            if "no such table" in str(failure) or "no such column" in str(failure):
                raise CommandError(NOT_MIGRATED) from None
            reason = " ".join(str(failure).split())
            raise CommandError(f"The database cannot be used ({reason}).") from None


def check_migrations() -> None:
    """Raise `CommandError` when a migration is missing."""
    if list_missing_migrations():
        raise CommandError(NOT_MIGRATED)


def find_project(domain: str) -> Project:
    """The project of a domain. Raises CommandError, which names the existing projects, or says how to create one."""
    project = Project.objects.select_related("organization").filter(domain=domain).first()
    if project is None:
        existing = list(Project.objects.order_by("domain").values_list("domain", flat=True))
        if not existing:
            raise CommandError(f"There is no project {domain}. Make it with: manage.py createproject")
        more = f" and {len(existing) - MAX_LISTED} more" if len(existing) > MAX_LISTED else ""
        raise CommandError(f"There is no project {domain}. There are: {', '.join(existing[:MAX_LISTED])}{more}.")
    return project


def find_projects(domain: str | None) -> list[Project]:
    """The project of a domain, or all projects without one. Raises CommandError."""
    return [find_project(domain)] if domain else list(Project.objects.all())


def port(text: str) -> int:
    """Parse a port number, as a type of argparse."""
    if not text.isdecimal() or not 1 <= int(text) <= 65535:
        raise argparse.ArgumentTypeError("must be 1 to 65535")
    return int(text)
