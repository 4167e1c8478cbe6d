"""What of the notifications runs beside the requests."""

from docsite.core.components import Component
from docsite.core.notifications import background

COMPONENTS = (Component(name="alerts and digests", threads=(background.thread,), sweep=background.sweep),)
