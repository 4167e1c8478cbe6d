"""A service whose limits do not end a long run, and its OpenAPI document. `make fuzz` sets the sizes."""

import os
from typing import Any

import pytest

from docsite.env import Env
from tests.conftest import Service

SEED = int(os.environ.get("FUZZ_SEED", "1"))
REQUESTS = int(os.environ.get("FUZZ_REQUESTS", "100"))
FRAMES = int(os.environ.get("FUZZ_FRAMES", "500"))
IS_LONG = "FUZZ_REQUESTS" in os.environ  # one of `make fuzz`, which prints figures
EXAMPLES = 1_000 if IS_LONG else 50  # of each parser
MAX_SECONDS = 10.0 if IS_LONG else 60.0  # for one response; tests share their machine


@pytest.fixture(scope="module")
def service(start: Any, django_db_setup: None) -> Service:
    """The service without a model, with limits that a run does not reach, and with its work beside the requests."""
    limits = [name for name in Env.model_fields if name.startswith("limit_")]
    return start.fresh(**{name.upper(): "100000000/h" for name in limits})


@pytest.fixture
def document(http: Any, service: Service) -> dict[str, Any]:
    """The OpenAPI document of the service."""
    return http.get(f"{service.url}/openapi.json").json()
