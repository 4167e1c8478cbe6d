"""What of dead ends runs beside the requests."""

from docsite.core.components import Component
from docsite.extras.dead_ends import recording, watching
from docsite.extras.dead_ends.background import thread

COMPONENTS = (Component(name="dead ends", threads=(thread,), flush=recording.flush, sweep=watching.sweep),)
