"""What of dead ends runs beside the requests."""

from docsite.core.components import Component
from docsite.extras.dead_ends import recording, watching
from docsite.extras.dead_ends.background import recorder, watcher

COMPONENTS = (
    Component(name="dead ends", start=recorder.start, threads=(watcher,), flush=recording.flush, sweep=watching.sweep),
)
