"""What happened that others want to know of: a download in the admin, and the start of a command."""

from django.dispatch import Signal

downloaded = Signal()  # arguments: `name` of the address in the admin, `domain` of the project or empty
command_started = Signal()  # arguments: `name`, `domain` of the project or empty
