"""Signed tokens of support forms. They stop programs that post without a form, too fast, or the same form twice."""

import time
from secrets import token_hex

from django.core import signing

from docsite.core.http.errors import BadRequest
from docsite.core.tenants.models import Project

WAIT_SECONDS = 3  # nobody writes a question in less
MAX_AGE = 24 * 3600
_SALT = "assistant.support_requests"


def issue(project: Project) -> str:
    """A token for a new form."""
    return signing.dumps({"id": token_hex(12), "at": int(time.time()), "of": project.pk}, salt=_SALT)


def check(project: Project, token: str) -> str:
    """The id of the form. Raises `BadRequest` if the token is not ours, of another project, too new or too old."""
    try:
        form = signing.loads(token, salt=_SALT)
    except signing.BadSignature:
        raise BadRequest("token: is not valid; load the form again") from None
    if form["of"] != project.pk:
        raise BadRequest("token: is not valid; load the form again")
    age = time.time() - form["at"]
    if age < WAIT_SECONDS:
        raise BadRequest("token: this was very fast; wait a few seconds and send it again")
    if age > MAX_AGE:
        raise BadRequest("token: the form was open for more than a day; load it again")
    return str(form["id"])
