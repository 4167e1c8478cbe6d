"""The command line: `manage.py` in a clone, `docs-service` where the package is installed."""

import gc
import io
import os
import sys

from django.core.management import execute_from_command_line

from docsite.core import context

GARBAGE_THRESHOLD = 100_000  # new objects; loading makes some 400,000 of which none is garbage


def main() -> None:
    """Run the management command in `sys.argv`. Ends the process with its exit status if it fails."""
    gc.set_threshold(GARBAGE_THRESHOLD)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "docsite.settings")
    context.set_command_as_actor("".join(sys.argv[1:2]))  # for Django's own commands, too
    if isinstance(sys.stdout, io.TextIOWrapper):  # whoever started us may wait for a line in a pipe
        sys.stdout.reconfigure(encoding="utf-8", line_buffering=True)
    execute_from_command_line(sys.argv)
