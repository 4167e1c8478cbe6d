"""The dimensions of a view, and their names."""

from typing import NamedTuple

OTHER = "(other)"  # the value of views beyond the daily limit
DIRECT, INTERNAL = "direct", "internal"  # channels


class Dimensions(NamedTuple):
    """The values of one view, each in lower case but for the browser; empty if it is unknown.

    Values are numbered in the order of these fields (`analytics.counting.audiences`): add new ones at the end.
    """

    channel: str = ""
    source: str = ""
    utm_source: str = ""
    utm_medium: str = ""
    utm_campaign: str = ""
    device: str = ""
    browser: str = ""
    language: str = ""

    @property
    def is_entry(self) -> bool:
        """Whether the reader came from outside of the site: the view begins a visit."""
        return self.channel not in ("", INTERNAL)

    def limited(self) -> "Dimensions":
        """The same without the values that a client chooses freely: each of those is `(other)`."""
        free = ("source", "utm_source", "utm_medium", "utm_campaign", "language")
        return self._replace(**{name: OTHER for name in free if getattr(self, name)})


ENTRY = "entry"  # the page on which a visit began
DIMENSIONS = (*Dimensions._fields, ENTRY)
LABELS = {
    "channel": "Channel",
    "source": "Source",
    "utm_source": "UTM source",
    "utm_medium": "UTM medium",
    "utm_campaign": "UTM campaign",
    "device": "Device",
    "browser": "Browser",
    "language": "Language",
    "entry": "Entry page",
}
