#!/usr/bin/env python
"""Django's command line for this service. `python manage.py help` lists the commands."""

import os
import sys

from django.core.management import execute_from_command_line

from docsite.core import context

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "docsite.settings")
    context.set_command_as_actor("".join(sys.argv[1:2]))  # for Django's own commands, too
    execute_from_command_line(sys.argv)
