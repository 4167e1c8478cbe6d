"""A stock Django project for comparison: the seven middlewares of `startproject`, a key looked up with the ORM, JSON.

`/keyed` does what a keyed endpoint cannot do without: read the bearer token, look its digest up, read the body,
answer. No rate limit, no search. `/plain` leaves the key out as well.

    DATA_DIR=… python -m tests.bench.stock        makes the database
    DATA_DIR=… daphne tests.bench.stock:application
"""

# ruff: noqa: E402  Django must be set up before its models are imported

import hashlib
import json
import os

import django
from django.conf import settings

settings.configure(
    SECRET_KEY="only for the benchmark",
    ALLOWED_HOSTS=["127.0.0.1"],
    ROOT_URLCONF=__name__,
    INSTALLED_APPS=[
        "django.contrib.auth",
        "django.contrib.contenttypes",
        "django.contrib.sessions",
        "django.contrib.messages",
    ],
    MIDDLEWARE=[
        "django.middleware.security.SecurityMiddleware",
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.middleware.common.CommonMiddleware",
        "django.middleware.csrf.CsrfViewMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
        "django.contrib.messages.middleware.MessageMiddleware",
        "django.middleware.clickjacking.XFrameOptionsMiddleware",
    ],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": os.environ["DATA_DIR"] + "/stock.sqlite3"}},
)
django.setup()

from django.contrib.auth.models import User
from django.core.asgi import get_asgi_application
from django.core.management import call_command
from django.http import HttpRequest, JsonResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt

TOKEN = "stock-key"  # also in relays.py


def digest(token: str) -> str:
    """How the key is stored; in a user's name, which is indexed."""
    return hashlib.sha256(token.encode()).hexdigest()


@csrf_exempt
async def keyed(request: HttpRequest) -> JsonResponse:
    """A JSON answer for a known key."""
    token = request.headers.get("Authorization", "").removeprefix("Bearer ")
    if not await User.objects.filter(username=digest(token)).afirst():
        return JsonResponse({"error": "Unknown key."}, status=401)
    query = json.loads(request.body)["query"]
    return JsonResponse([{"query": query}], safe=False)


@csrf_exempt
async def plain(request: HttpRequest) -> JsonResponse:
    """A JSON answer for anyone."""
    return JsonResponse([{"query": json.loads(request.body)["query"]}], safe=False)


urlpatterns = [path("keyed", keyed), path("plain", plain)]

application = get_asgi_application()

if __name__ == "__main__":
    call_command("migrate", verbosity=0)
    User.objects.get_or_create(username=digest(TOKEN))
