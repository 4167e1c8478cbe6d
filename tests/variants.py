"""Split the parameters of a test: the first ones run in `make test`, the others in `make matrix`."""

from collections.abc import Iterable
from itertools import islice
from typing import Any

import pytest

Parameters = type(pytest.param())


def first_of(values: Iterable[Any], kept: int) -> list[Any]:
    """All values as parameters; those after the first `kept` have the marker `matrix`. A tuple is several arguments."""
    rest = iter(values)
    return [*islice(rest, kept), *(_move(each) for each in rest)]


def _move(value: Any) -> Any:
    if isinstance(value, Parameters):
        return pytest.param(*value.values, marks=[*value.marks, pytest.mark.matrix], id=value.id)
    return pytest.param(*(value if isinstance(value, tuple) else [value]), marks=pytest.mark.matrix)
