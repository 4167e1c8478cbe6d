"""A picture of what each kind of request costs each part, as SVG: bars from the rows of `costs`.

It brings its own light ground, since an image does not know the theme of the page around it.
"""

from collections.abc import Mapping, Sequence
from typing import Any
from xml.sax.saxutils import escape

# Parts with their colors, which people with any color vision tell apart by their lightness.
COLORS = {"web": "#1d4ed8", "worker": "#93b4f5", "PostgreSQL": "#b45309", "Redis": "#f2b37a", "NATS": "#111827"}
KINDS = {"view": "view", "search": "search", "ask": "question, no model", "ask with a model": "question, model"}
WIDTH, LEFT, RIGHT, TOP, ROW, BAR = 760, 250, 70, 56, 26, 18
TITLE = "Processor time of one request, in milliseconds"


def draw(costs: Sequence[Mapping[str, Any]]) -> str:
    """The picture of the rows with one web process and several projects; of each kind one bar for each database."""
    rows: dict[tuple[str, str], Mapping[str, float]] = {}
    for one in costs:
        if one["kind"] in KINDS and one["processes"] == 1 and one["projects"] != 1:
            rows.setdefault((one["kind"], one["database"]), one["cpu"])
    ordered = sorted(rows, key=lambda row: ([*KINDS].index(row[0]), row[1] != "SQLite"))
    scale = (WIDTH - LEFT - RIGHT) / max((sum(cpu.values()) for cpu in rows.values()), default=1)
    height = TOP + ROW * len(ordered) + 16
    shapes = [_draw_text(16, 24, TITLE, 'font-weight="600"'), *_draw_legend()]
    for place, (kind, database) in enumerate(ordered):
        y, x = TOP + ROW * place, float(LEFT)
        shapes.append(_draw_text(16, y + 14, f"{KINDS[kind]}, {database}"))
        for part, color in COLORS.items():
            width = rows[kind, database].get(part, 0) * scale
            shapes.append(f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{BAR}" fill="{color}"/>')
            x += width
        shapes.append(_draw_text(x + 6, y + 14, f"{sum(rows[kind, database].values()):.1f}"))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        f'role="img" font-family="system-ui, sans-serif" font-size="14" fill="#111827"><title>{TITLE}</title>'
        f'<rect width="{WIDTH}" height="{height}" rx="8" fill="#ffffff"/>{"".join(shapes)}</svg>\n'
    )


def _draw_legend() -> list[str]:
    shapes = []
    for place, (part, color) in enumerate(COLORS.items()):
        x = LEFT + 92 * place
        shapes.append(f'<rect x="{x}" y="36" width="10" height="10" fill="{color}"/>')
        shapes.append(_draw_text(x + 14, 46, part, 'font-size="12"'))
    return shapes


def _draw_text(x: float, y: float, text: str, attributes: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y}" {attributes}>{escape(text)}</text>'
