"""Runs all checks, one after the other."""

from collections.abc import Iterator
from typing import NamedTuple

import httpx

from docsite.extras.conformance import analytics_checks, message_v1_checks, message_v2_checks, search_checks
from docsite.extras.conformance.service import Check, Service, Violation

SECTIONS: dict[str, tuple[Check, ...]] = {
    "Errors and keys": search_checks.ERRORS,
    "Search and pages": search_checks.SEARCHES,
    "Messages v1": message_v1_checks.CHECKS,
    "Messages v2": message_v2_checks.CHECKS,
    "Analytics": analytics_checks.CHECKS,
}


class Result(NamedTuple):
    """What became of a check. `problem`: what the service did instead; empty if it conforms."""

    section: str
    rule: str
    problem: str


def run_checks(service: Service) -> Iterator[Result]:
    """Yield the result of each check as soon as it is known."""
    for section, checks in SECTIONS.items():
        if section == "Analytics" and not (service.admin_key and service.project_id):
            continue
        for check in checks:
            yield Result(section, check.__doc__ or "", _find_problem(check, service))


def _find_problem(check: Check, service: Service) -> str:
    try:
        check(service)
    except Violation as violation:
        return str(violation)
    except httpx.HTTPError as error:
        return f"no answer: {error or type(error).__name__}"
    except (AttributeError, KeyError, IndexError, TypeError) as error:  # a check met a value of another type
        return f"an unexpected value: {type(error).__name__} {error}"
    return ""
