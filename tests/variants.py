"""Split the parameters of a test: the first ones run in `make test`, the others in `make matrix`."""

from collections.abc import Iterable
from itertools import islice
from typing import Any

import pytest

Parameters = type(pytest.param())

collects_matrix = True  # `tests.conftest` knows which tests the run selects


def first_of(values: Iterable[Any], kept: int, ids: Iterable[str] | None = None) -> list[Any]:
    """All values as parameters; those after the first `kept` have the marker `matrix`. A tuple is several arguments.

    A run that selects no test of the matrix gets the first ones only.
    """
    if ids is not None:
        values = [pytest.param(*_arguments(value), id=name) for value, name in zip(values, ids, strict=True)]
    rest = iter(values)
    first = [*islice(rest, kept)]
    return [*first, *(_move(each) for each in rest)] if collects_matrix else first


def _move(value: Any) -> Any:
    if isinstance(value, Parameters):
        return pytest.param(*value.values, marks=[*value.marks, pytest.mark.matrix], id=value.id)
    return pytest.param(*_arguments(value), marks=pytest.mark.matrix)


def _arguments(value: Any) -> Iterable[Any]:
    return value if isinstance(value, tuple) else [value]
