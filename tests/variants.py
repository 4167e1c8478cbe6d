"""Split the parameters of a test: the first ones run in `make test`, the others in `make matrix`."""

from collections.abc import Iterable
from itertools import islice
from typing import Any

import pytest


def first_of(values: Iterable[Any], kept: int) -> list[Any]:
    """All values as parameters; those after the first `kept` have the marker `matrix`. A tuple is several arguments."""
    rest = iter(values)
    return [
        *islice(rest, kept),
        *(pytest.param(*(each if isinstance(each, tuple) else [each]), marks=pytest.mark.matrix) for each in rest),
    ]
