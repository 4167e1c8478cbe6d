"""Checks of the analytics exports."""

from typing import Any

from docsite.extras.conformance.service import Check, Service, expect, expect_error, expect_shape, load_json

NUMBER = (int, float)
COUNTS: dict[str, Any] = {"human": NUMBER, "ai": NUMBER, "total": NUMBER}


def check_visitors(service: Service) -> None:
    """Visitors have totals and rows by path; `total` counts each visitor once"""
    body = _read(service, "visitors", limit=250)
    expect_shape(body, {"totals": dict, "visitors": list, "hasMore": bool}, "the report")
    for row in (body["totals"], *body["visitors"]):
        expect_shape(row, COUNTS, "a row")
        human, ai, total = row["human"], row["ai"], row["total"]
        expect(max(human, ai) <= total <= human + ai, f"human {human}, ai {ai}, total {total}")
    paths = [row.get("path") for row in body["visitors"]]
    expect(all(isinstance(path, str) for path in paths), "a row has no path")
    expect(len(set(paths)) == len(paths), "a path comes twice")


def check_pages(service: Service) -> None:
    """`limit` and `offset` read the same rows in pieces"""
    whole = _read(service, "visitors", limit=4)["visitors"]
    pieces = [row for offset in (0, 2) for row in _read(service, "visitors", limit=2, offset=offset)["visitors"]]
    expect(pieces == whole, f"{pieces} instead of {whole}")


def check_views(service: Service) -> None:
    """Views are events: `total` is `human` and `ai` together"""
    body = _read(service, "views")
    expect_shape(body, {"totals": dict, "views": list, "hasMore": bool}, "the report")
    for row in (body["totals"], *body["views"]):
        expect_shape(row, COUNTS, "a row")
        expect(row["human"] + row["ai"] == row["total"], f"{row}")


def check_lists(service: Service) -> None:
    """Searches, feedback and conversations are lists with a cursor"""
    shapes: dict[str, dict[str, Any]] = {
        "searches": {"searches": list, "totalSearches": NUMBER},
        "feedback": {"feedback": list, "hasMore": bool},
        "assistant": {"conversations": list, "hasMore": bool},
    }
    for report, shape in shapes.items():
        body = _read(service, report)
        expect_shape(body, {**shape, "nextCursor": (str, type(None))}, report)


def check_bounds(service: Service) -> None:
    """A parameter out of bounds is refused with 400 and its name"""
    wrong: tuple[tuple[str, Any], ...] = (("limit", 0), ("limit", 251), ("offset", -1), ("dateFrom", "yesterday"))
    for name, value in wrong:
        expect_error(service.get("visitors", **{name: value}), 400, naming=name)
    expect_error(service.get("visitors", dateFrom="2026-02-01", dateTo="2026-01-01"), 400)


def check_access(service: Service) -> None:
    """No key is 401, the assistant key 403, and a project of nobody 404"""
    expect_error(service.get("visitors", key=""), 401)
    expect_error(service.get("visitors", key=service.key), 403)
    expect_error(service.get("visitors", project_id="conformance-none"), 404)


def _read(service: Service, report: str, **query: Any) -> Any:
    response = service.get(report, dateFrom="2026-01-01", **query)
    expect(response.status_code == 200, f"status {response.status_code} for {report}: {response.text[:200]}")
    return load_json(response)


CHECKS: tuple[Check, ...] = (*(check_visitors, check_pages, check_views, check_lists, check_bounds, check_access),)
