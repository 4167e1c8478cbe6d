"""The text format of Prometheus (https://prometheus.io/docs/instrumenting/exposition_formats/)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

Labels = tuple[tuple[str, str], ...]


@dataclass
class Metric:
    """A metric with its values by labels. `suffix` of a value is that of its line, as in `_bucket`."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    help: str
    values: list[tuple[str, Labels, float]] = field(default_factory=list)

    def add(self, value: float, labels: Mapping[str, str] | None = None, suffix: str = "") -> None:
        """Add a value."""
        self.values.append((suffix, tuple((labels or {}).items()), value))


def gauge(name: str, help: str, value: float) -> Metric:
    """A gauge with one value."""
    return Metric(name, "gauge", help, [("", (), value)])


def render(metrics: Iterable[Metric]) -> str:
    """The lines of metrics."""
    lines: list[str] = []
    for metric in metrics:
        lines += [f"# HELP {metric.name} {metric.help}", f"# TYPE {metric.name} {metric.kind}"]
        for suffix, labels, value in metric.values:
            inside = ",".join(f'{name}="{_escape(text)}"' for name, text in labels)
            lines.append(f"{metric.name}{suffix}{f'{{{inside}}}' if inside else ''} {value:.17g}")
    return "\n".join(lines) + "\n"


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
