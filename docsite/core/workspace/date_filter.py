"""A filter of the admin by time. It reads no rows, while `date_hierarchy` looks for the days that have some."""

from collections.abc import Iterator
from datetime import UTC, datetime, time, timedelta
from typing import Any

from django.contrib import admin
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.views.main import ERROR_FLAG, PAGE_VAR, ChangeList
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone

from docsite.core.http import dates
from docsite.core.workspace.reports.links import Field
from docsite.core.workspace.reports.report_state import ENDS

RANGE, START, END = OWN = ("range", "from", "to")  # in the address, as in reports
DAYS = {"today": ("Today", 1), "7d": ("7 days", 7), "30d": ("30 days", 30)}  # up to tomorrow 00:00 UTC


class DateFilter(admin.FieldListFilter):
    """Rows of today or of the last days, or of a range of one's own, which ends before `to`. All times are UTC."""

    template = "admin/workspace/_date_filter.html"

    def expected_parameters(self) -> list[str | None]:
        """What the filter takes from the address."""
        return [*OWN]

    def queryset(self, request: HttpRequest, queryset: "QuerySet[Any]") -> "QuerySet[Any]":
        """The rows of the range. With a wrong value in the address, the admin shows the whole list."""
        start, end = self._find_window()
        if start:
            queryset = queryset.filter(**{f"{self.field_path}__gte": start})
        return queryset.filter(**{f"{self.field_path}__lt": end}) if end else queryset

    def choices(self, changelist: ChangeList) -> Iterator[Any]:
        """The ranges up to now."""
        nothing = dict.fromkeys(OWN)
        is_any = not any(self._value(name) for name in OWN)
        yield {"selected": is_any, "query_string": changelist.get_query_string(nothing), "display": "Any time"}
        for key, (label, _) in DAYS.items():
            link = changelist.get_query_string({**nothing, RANGE: key})
            yield {"selected": self._value(RANGE) == key, "query_string": link, "display": label}

    def list_fields(self) -> list[Field]:
        """The fields of the form for a range of one's own. One that holds more than a day is a text."""
        labels = {START: ENDS[START], END: f"{ENDS[END]} (excluded)"}
        values = {name: self._value(name) for name in labels}
        kinds = {name: "date" if len(value) in (0, len("2026-01-01")) else "text" for name, value in values.items()}
        return [Field(name, label, values[name], kinds[name], wrong=False) for name, label in labels.items()]

    def list_others(self) -> list[tuple[str, str]]:
        """What else is chosen in the list, which the form keeps."""
        left_out = (*OWN, PAGE_VAR, ERROR_FLAG)
        return [(name, self.request.GET[name]) for name in self.request.GET if name not in left_out]

    def _find_window(self) -> tuple[datetime | None, datetime | None]:
        """The half-open range. An end that is None is open."""
        key, start, end = (self._value(name) for name in OWN)
        try:
            if not key:
                return dates.parse(start) if start else None, dates.parse(end) if end else None
            tomorrow = datetime.combine(timezone.now().astimezone(UTC).date() + timedelta(days=1), time(), UTC)
            return tomorrow - timedelta(days=DAYS[key][1]), tomorrow
        except (KeyError, ValueError) as problem:
            raise IncorrectLookupParameters from problem

    def _value(self, name: str) -> str:
        values = self.used_parameters.get(name)
        return str(values[-1] if isinstance(values, list) else values or "")
