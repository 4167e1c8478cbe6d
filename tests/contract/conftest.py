"""What the tests of both protocols share."""

import functools
from collections.abc import Callable
from typing import Any

import pytest

from tests.contract.browser import Browser, Page


@pytest.fixture
def visit(browser: Browser, model_service: Any, project: Any) -> Callable[..., Page]:
    """Open a page of the project's site, in the `browser` of the test's file."""
    return functools.partial(browser.open, model_service, project)
