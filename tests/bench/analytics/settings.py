"""The service's settings, with an empty view among its addresses."""

from docsite.settings import *  # noqa: F403

API_URLCONF = "tests.bench.analytics.urls"
