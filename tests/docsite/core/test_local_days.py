"""Days of time zones: equal to asking a clock minute by minute, whatever clocks do."""

import random
from contextlib import nullcontext
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.utils import timezone

from docsite.core.http import dates
from docsite.core.workspace.reports import downloads
from docsite.core.workspace.reports.report_state import DAY, HOUR, ReportState, move_back, previous_period
from docsite.core.workspace.reports.time_steps import StepText, choose_step, name_step, split

MINUTE = timedelta(minutes=1)
CHANGES = {  # days on which clocks change, or which do not exist
    "Europe/Berlin": ["2026-03-29", "2026-10-25"],
    "America/New_York": ["2026-03-08", "2026-11-01"],
    "Australia/Lord_Howe": ["2026-04-05", "2026-10-04"],  # by half an hour
    "Asia/Kolkata": ["2026-03-29"],
    "Asia/Kathmandu": ["2026-10-25"],
    "Pacific/Apia": ["2011-12-29", "2011-12-30", "2011-12-31"],  # the second was skipped
    "America/Sao_Paulo": ["2018-11-04", "2018-02-18"],  # at midnight
    "Asia/Beirut": ["2026-03-29", "2026-10-25"],  # at midnight
}
EXTREMES = ["0001-01-01T00:00:00", "0001-01-01T23:00:00", "9999-12-31T00:00:00", "9999-12-31T23:59:59"]


def find_first(zone: ZoneInfo, day: date) -> datetime:
    """The first minute whose date is a day or a later one, by brute force."""
    at = datetime(day.year, day.month, day.day, tzinfo=UTC) - timedelta(hours=15)
    while at.astimezone(zone).date() < day:
        at += MINUTE
    return at


@pytest.mark.parametrize("name", CHANGES)
def test_a_day_begins_with_the_first_minute_of_its_date(name):
    zone, dice = ZoneInfo(name), random.Random(name)
    days = {date.fromisoformat(text) + timedelta(more) for text in CHANGES[name] for more in (-1, 0, 1)}
    days |= {date(2000, 1, 1) + timedelta(dice.randrange(13_000)) for _ in range(5)}
    for day in days:
        begin, end = find_first(zone, day), find_first(zone, day + timedelta(1))
        assert dates.parse(str(day), zone) == begin
        for _ in range(5 * (begin < end)):
            at = begin + (end - begin) * dice.random()
            assert dates.begin_day(at, 0, zone) == begin
            assert dates.begin_day(at, 1, zone) in (end, find_first(zone, day + timedelta(1)))
            assert dates.find_day(at, zone) == day


@pytest.mark.parametrize("name", CHANGES)
def test_a_range_is_its_days(name):
    dice = random.Random(name)
    with timezone.override(name):
        for text in CHANGES[name]:
            start = dates.parse(text) - timedelta(
                days=dice.randrange(9), minutes=dice.choice([0, 0, dice.randrange(1440)])
            )
            end = start + timedelta(days=dice.randrange(1, 15), minutes=dice.choice([0, 0, dice.randrange(1440)]))
            for step in (HOUR, DAY, 7 * DAY):
                steps = list(split(start, end, step))
                assert [first for first, _ in steps] == [start, *(last for _, last in steps[:-1])]
                assert steps[-1][1] == end
                assert all(first < last for first, last in steps)
            found = [dates.find_day(first) for first, _ in split(start, end, DAY)]
            minutes = range(0, int((end - start) / MINUTE) + 15, 15)
            assert set(found) == {dates.find_day(min(start + MINUTE * minute, end - MINUTE / 60)) for minute in minutes}
            assert len(set(found)) == len(found)


@pytest.mark.parametrize(
    ("zone", "day", "minutes", "names"),
    [
        ("UTC", "2026-03-29", 1440, ["Sun 29 Mar 2026, 00:00 to 01:00", "Sun 29 Mar 2026, 23:00 to 24:00"]),
        ("Europe/Berlin", "2026-03-29", 1380, ["Sun 29 Mar 2026, 00:00 to 01:00", "Sun 29 Mar 2026, 23:00 to 24:00"]),
        ("Europe/Berlin", "2026-10-25", 1500, ["Sun 25 Oct 2026, 02:00 CEST to 02:00 CET"]),
        ("Europe/Berlin", "2026-10-25", 1500, ["Sun 25 Oct 2026, 02:00 to 03:00"]),
        ("Australia/Lord_Howe", "2026-04-05", 1470, ["Sun 5 Apr 2026, 23:30 to 24:00"]),
        ("Australia/Lord_Howe", "2026-10-04", 1410, ["Sun 4 Oct 2026, 00:00 to 00:30"]),
        ("Asia/Kathmandu", "2026-10-25", 1440, ["Sun 25 Oct 2026, 00:00 to 00:45", "Sun 25 Oct 2026, 00:45 to 01:45"]),
        ("Asia/Beirut", "2026-03-29", 1380, ["Sun 29 Mar 2026, 01:00 to 02:00"]),
    ],
)
def test_a_day_has_its_hours_under_their_names(zone, day, minutes, names):
    with timezone.override(zone):
        start = dates.parse(day)
        end = dates.begin_day(start, 1)
        assert (end - start) == minutes * MINUTE
        assert choose_step(start, dates.begin_day(end, 1)) == HOUR
        hours = [name_step(*span) for span in split(start, end, HOUR)]
        assert set(names) <= set(hours)
        assert len(set(hours)) == len(hours)
        assert name_step(start, end) == f"{date.fromisoformat(day):%a %-d %b %Y}"
        assert name_step(start, dates.move_days(start, 7)) == f"7 days from {date.fromisoformat(day):%-d %b %Y}"


def test_a_day_that_a_zone_skips_is_no_step():
    with timezone.override("Pacific/Apia"):
        steps = split(dates.parse("2011-12-29"), dates.parse("2012-01-01"), DAY)
        assert [name_step(*step) for step in steps] == ["Thu 29 Dec 2011", "Sat 31 Dec 2011"]


@pytest.mark.parametrize(
    ("zone", "typed", "window", "before"),
    [
        ("UTC", ("2026-10-26", "2026-11-02"), ("26T00:00", "02T00:00"), "19T00:00"),
        ("Europe/Berlin", ("2026-10-26", "2026-11-02"), ("25T23:00", "01T23:00"), "18T22:00"),
        ("Europe/Berlin", ("2026-10-25", "2026-10-26"), ("24T22:00", "25T23:00"), "23T22:00"),
        ("Europe/Berlin", ("2026-10-25T02:30", "2026-10-25T04:30"), ("25T00:30", "25T03:30"), "24T21:30"),
        ("Europe/Berlin", ("2026-10-25T02:30Z", "2026-10-25T04:30+00:00"), ("25T02:30", "25T04:30"), "25T00:30"),
        ("Asia/Kolkata", ("2026-10-26", "2026-11-02"), ("25T18:30", "01T18:30"), "18T18:30"),
    ],
)
def test_typed_dates_are_days_of_the_zone(zone, typed, window, before):
    with timezone.override(zone):
        start, end = ReportState(start=typed[0], end=typed[1]).window(datetime(2026, 11, 28, 12, tzinfo=UTC))
        assert (f"{start:%dT%H:%M}", f"{end:%dT%H:%M}") == window
        earlier, until = previous_period(start, end)
        assert (f"{earlier:%dT%H:%M}", until) == (before, start)
        steps = [(move_back(first, start, end), move_back(last, start, end)) for first, last in split(start, end, HOUR)]
        assert (steps[0][0], steps[-1][1]) == (earlier, start)
        assert all(first <= last for first, last in steps)


@pytest.mark.parametrize(
    ("zone", "now"),
    [
        ("UTC", "2026-10-27T23:30"),
        ("Europe/Berlin", "2026-10-27T23:30"),
        ("America/New_York", "2026-11-02T04:30"),
        ("America/Santiago", "2025-09-07T02:30"),  # the next day begins at 01:00
        ("Asia/Beirut", "2026-03-28T20:30"),
        ("Africa/Cairo", "2026-04-23T20:30"),
    ],
)
def test_the_last_days_end_at_midnight(zone, now):
    at = datetime.fromisoformat(now).replace(tzinfo=UTC)
    with timezone.override(zone):
        for name, days in (("7d", 7), ("30d", 30), ("90d", 90)):
            start, end = ReportState(range=name).window(at)
            assert end - DAY <= at < end
            assert [dates.begin_day(instant) for instant in (start, end)] == [start, end]
            assert (dates.find_day(end) - dates.find_day(start)).days == days
            earlier, _ = previous_period(start, end)
            for begin in [start, earlier, *(first for first, _ in split(earlier, start, 7 * DAY))]:
                assert begin == find_first(ZoneInfo(zone), dates.find_day(begin))
            assert dates.window(None, end, at)[0] == dates.begin_day(end, -30)
        start, end = ReportState(range="24h").window(at)
        assert (end - start, end - at) == (DAY, MINUTE * 30)


@pytest.mark.parametrize(
    ("zone", "now", "this", "last"),
    [
        ("UTC", "2026-03-31T12:30", ("01T00:00", "01T00:00"), ("01T00:00", "01T00:00")),
        ("Europe/Berlin", "2026-03-31T21:30", ("28T23:00", "31T22:00"), ("31T23:00", "28T23:00")),
        ("Europe/Berlin", "2026-03-31T22:30", ("31T22:00", "01T22:00"), ("28T23:00", "31T22:00")),
        ("Asia/Kolkata", "2026-12-31T18:30", ("31T18:30", "01T18:30"), ("30T18:30", "31T18:30")),
    ],
)
def test_months_are_those_of_the_calendar(zone, now, this, last):
    at = datetime.fromisoformat(now).replace(tzinfo=UTC)
    with timezone.override(zone):
        for name, expected in (("month", this), ("last-month", last)):
            window = ReportState(range=name).window(at)
            assert tuple(f"{instant:%dT%H:%M}" for instant in window) == expected
            file = downloads.name_file("acme-gaps.csv", window)
            assert file == f"acme-gaps-{dates.find_day(window[0])}-{dates.find_day(window[1] - DAY)}.csv"


@pytest.mark.parametrize(
    ("zone", "now", "until"),
    [
        ("UTC", "2026-10-27T14:37", "20T15:00"),
        ("Europe/Berlin", "2026-10-27T14:37", "20T14:00"),  # 16:00 before clocks changed, and 16:00 after
        ("UTC", "2026-10-27T23:37", "21T00:00"),
        ("UTC", "2026-12-01T00:00", "21T00:00"),  # it is over
        ("UTC", "2026-10-01T00:00", "21T00:00"),  # it has not begun
    ],
)
def test_a_range_that_runs_compares_with_the_same_part_of_the_period_before(monkeypatch, zone, now, until):
    at = datetime.fromisoformat(now).replace(tzinfo=UTC)
    monkeypatch.setattr(timezone, "now", lambda: at)
    with timezone.override(zone):
        start, end = ReportState(start="2026-10-21", end="2026-10-28").window(at)
        first, last = previous_period(start, end)
        assert (first, f"{last:%dT%H:%M}") == (move_back(start, start, end), until)


@pytest.mark.parametrize(
    ("zone", "typed", "error"),
    [
        ("UTC", ("2015-10-25", "2025-11-01"), None),  # 3,660 days
        ("UTC", ("2015-10-25", "2025-11-01T00:01"), "at most 3,660 days"),
        ("Europe/Berlin", ("2015-10-25", "2025-11-01"), None),  # and an hour
        ("Europe/Berlin", ("2015-10-25", "2025-11-02"), "at most 3,660 days"),
        ("Europe/Berlin", ("2015-11-01", "2025-11-08T00:30"), "at most 3,660 days"),
        ("UTC", ("2026-11-01T09:30:15", "2026-11-01T09:30:45"), "must be before"),  # a minute is the least
        ("Pacific/Kiritimati", ("x", ""), "write a day such as 2026-11-29, or a time such as 2026-11-29T09:30."),
    ],
)
def test_a_range_has_a_greatest_and_a_least_length(zone, typed, error):
    with timezone.override(zone), pytest.raises(ValueError, match=error) if error else nullcontext():
        start, end = ReportState(start=typed[0], end=typed[1]).window(datetime(2026, 11, 28, 12, tzinfo=UTC))
        assert (dates.find_day(end) - dates.find_day(start)).days == 3660


def test_rows_of_a_range_typed_with_seconds_are_in_their_steps():
    typed = ReportState(start="2026-01-01T09:30:15.5Z", end="2026-07-20T09:30:59Z")
    start, end = typed.window(datetime(2026, 11, 28, tzinfo=UTC))
    steps = list(split(start, end, choose_step(start, end)))
    text = StepText("at", steps)
    for place, (begin, _) in enumerate(steps):
        for seconds in (0, 5, 20, 59):
            stored = f"{begin + timedelta(seconds=seconds):%Y-%m-%d %H:%M:%S}"
            assert text.find(stored[: text._size]) == place
    assert (start.second, end.second, start.microsecond) == (0, 0, 0)


@pytest.mark.parametrize("zone", ["UTC", "Pacific/Kiritimati", "Pacific/Pago_Pago"])
def test_the_ends_of_the_calendar_are_no_error(zone):
    with timezone.override(zone):
        for text in EXTREMES:
            at = datetime.fromisoformat(text).replace(tzinfo=UTC)
            dates.find_day(at)
            for days in (-1, 0, 1):
                assert isinstance(dates.begin_day(at, days), datetime)
            assert list(split(at - DAY, at, DAY))[-1][1] == at if at.year > 1 else True
            assert list(split(at, at + DAY, 7 * DAY)) if at.year < 9999 else True


def test_names_of_zones():
    names = [name for name, _ in dates.list_zones()]
    assert {"UTC", "Europe/Berlin", "Asia/Kathmandu"} <= set(names)
    assert dates.find_zone("UTC") is UTC
    for wrong in ("", "Berlin", "europe/berlin", "Europe", "../zoneinfo/UTC", "/etc/passwd", "a\0b", "Factory"):
        assert dates.find_zone(wrong) is None
