"""`/health`: whether this process and its database respond."""

from django.db import connection
from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_GET

from docsite.core.db import HEALTH, in_db


@require_GET
async def health(request: HttpRequest) -> JsonResponse:
    """200 `{"status": "ok"}` when the database answers; else 503, from the API middleware."""

    def ping() -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")

    await in_db(ping, HEALTH)()
    return JsonResponse({"status": "ok"})
