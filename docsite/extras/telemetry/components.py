"""What telemetry does at the start and at the end of a process."""

from docsite.core.components import Component
from docsite.extras.telemetry import error_reports, traces

# OpenTelemetry sends its spans itself when the process ends.
COMPONENTS = (
    Component(name="traces", start=traces.start),
    Component(name="errors", start=error_reports.start, flush=error_reports.stop),
)
