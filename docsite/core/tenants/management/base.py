"""What every command of the service shares: errors in a sentence."""

import argparse
import os
import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db.utils import OperationalError, ProgrammingError

from docsite.core.tenants.models import Project

MAX_LISTED = 10  # projects, where there is none of a name


class ServiceCommand(BaseCommand):
    """A command whose database errors are told like any other mistake."""

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Run the command."""
        try:
            return super().execute(*args, **options)
        except KeyboardInterrupt:
            raise CommandError("Stopped. It can be started again.", returncode=130) from None
        except BrokenPipeError:  # whoever read what it says has gone
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise SystemExit(1) from None
        except ProgrammingError:
            raise CommandError("The database is behind the code. Run first: python manage.py migrate") from None
        except OperationalError as failure:
            if "no such table" in str(failure) or "no such column" in str(failure):
                raise CommandError("The database is behind the code. Run first: python manage.py migrate") from None
            reason = " ".join(str(failure).split())
            raise CommandError(f"The database cannot be used ({reason}).") from None


def find_project(domain: str) -> Project:
    """The project of a domain, or a sentence that says which there are, or how to make one."""
    project = Project.objects.select_related("organization").filter(domain=domain).first()
    if project is None:
        known = list(Project.objects.order_by("domain").values_list("domain", flat=True))
        if not known:
            raise CommandError(f"There is no project {domain}. Make it with: manage.py createproject")
        more = f" and {len(known) - MAX_LISTED} more" if len(known) > MAX_LISTED else ""
        raise CommandError(f"There is no project {domain}. There are: {', '.join(known[:MAX_LISTED])}{more}.")
    return project


def port(text: str) -> int:
    """A port as an argument."""
    if not text.isdecimal() or not 1 <= int(text) <= 65535:
        raise argparse.ArgumentTypeError("must be 1 to 65535")
    return int(text)
