"""The text format of Prometheus (https://prometheus.io/docs/instrumenting/exposition_formats/)."""

from collections.abc import Iterable

from docsite.core.components.metrics import Metric


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
