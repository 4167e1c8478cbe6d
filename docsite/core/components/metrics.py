"""The numbers that a process or a store reports to Prometheus."""

from collections.abc import Mapping
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
