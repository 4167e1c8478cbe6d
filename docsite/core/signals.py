"""What happened that others want to know of: a download, a command, a change of a log-in."""

from django.dispatch import Signal

downloaded = Signal()  # arguments: `name` of the address in the admin, `domain` of the project or empty
command_started = Signal()  # arguments: `name`, `domain` of the project or empty
log_in_changed = Signal()  # arguments: `user`, `action`, such as "two-factor log-in set up", and `details`
