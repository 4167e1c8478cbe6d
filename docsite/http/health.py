"""Whether this process can answer."""

from django.db import connection
from django.http import HttpRequest, JsonResponse

from docsite.db import in_db


async def health(request: HttpRequest) -> JsonResponse:
    """200 `{"status": "ok"}` when the database answers; the error of the gate, 503, when not."""

    def ping() -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")

    await in_db(ping)()
    return JsonResponse({"status": "ok"})
