"""Describe where the reader of a view came from and what they read it with: its dimensions.

Others import `describe`, `Dimensions`, the names of the dimensions and `channels`. Nothing here identifies a person,
and whatever is unknown is empty.
"""

from analytics.audience.dimensions import DIMENSIONS, ENTRY, INTERNAL, LABELS, OTHER, Dimensions
from analytics.audience.views import describe

__all__ = ["DIMENSIONS", "ENTRY", "INTERNAL", "LABELS", "OTHER", "Dimensions", "describe"]
