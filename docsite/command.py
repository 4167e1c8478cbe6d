"""The command line: `manage.py` in a clone, `docs-service` where the package is installed."""

import os
import sys

from django.core.management import execute_from_command_line

from docsite.core import context


def main() -> None:
    """Run the management command in `sys.argv`. Ends the process with its exit status if it fails."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "docsite.settings")
    context.set_command_as_actor("".join(sys.argv[1:2]))  # for Django's own commands, too
    execute_from_command_line(sys.argv)
