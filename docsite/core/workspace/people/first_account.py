"""The page that creates the first account, for whoever can read the code in the log of the service."""

from django import forms
from django.contrib.auth import get_user_model
from django.contrib.auth.forms import BaseUserCreationForm
from django.db import connection, transaction
from django.db.migrations.recorder import MigrationRecorder
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.crypto import constant_time_compare, salted_hmac
from django.views.decorators.debug import sensitive_post_parameters

from docsite.core import context, sql
from docsite.core.http import ratelimit
from docsite.core.http.client_address import client_ip, network_of
from docsite.core.http.errors import TooMany
from docsite.core.sign_on.password import LOGIN_IP
from docsite.core.sign_on.sessions import open_session
from docsite.core.tenants.log_in_rules import Method
from docsite.core.workspace.people.accept import HEADERS

_CODE_LENGTH = 20  # hexadecimal digits: 80 bits


class FirstAccountForm(BaseUserCreationForm):  # type: ignore[type-arg]  # Django has no such argument
    """The code of the log, a name and a password."""

    code = forms.CharField(label="Code in the log of the service", max_length=100)
    field_order = ("code", "username", "password1", "password2")

    def clean_code(self) -> str:
        """The code, if it is right."""
        code: str = self.cleaned_data["code"].strip()
        if not constant_time_compare(code, build_code()):
            raise forms.ValidationError("This is not the code. Each process prints it when it starts.")
        return code


def build_code() -> str:
    """The code, the same in every process. It depends on SECRET_KEY, and on when this database was made."""
    begin = MigrationRecorder.Migration.objects.earliest("id").applied
    return salted_hmac(__name__, begin.isoformat(), algorithm="sha256").hexdigest()[:_CODE_LENGTH]


def is_missing() -> bool:
    """Whether nobody has an account yet."""
    return not get_user_model().objects.exists()


def _lock_accounts() -> None:
    """Let nobody else create an account until the transaction ends. SQLite has one writer anyway."""
    if connection.vendor == "postgresql":
        sql.execute("LOCK TABLE auth_user IN SHARE ROW EXCLUSIVE MODE")


@sensitive_post_parameters()
def create_first_account(request: HttpRequest) -> HttpResponse:
    """Show the form. A POST with the code creates a superuser and logs in. 404 as soon as there is an account."""
    if not is_missing():
        raise Http404
    form, status, wrong = FirstAccountForm(), 200, ""
    if request.method == "POST":
        form, status = FirstAccountForm(request.POST), 400
        try:
            ratelimit.spend((LOGIN_IP, network_of(client_ip(request))))
            if form.is_valid():
                user = form.save(commit=False)
                user.is_staff = user.is_superuser = True
                context.set_actor(user.get_username)  # the session has no user yet
                with transaction.atomic():
                    _lock_accounts()
                    if not is_missing():  # somebody else was faster
                        raise Http404
                    user.save()
                open_session(request, user, Method.PASSWORD)
                return HttpResponseRedirect(reverse("admin:index"))
        except TooMany as refusal:
            status, wrong = 429, refusal.sentence
    shown = {
        "title": "First account",
        "form": form,
        "wrong": wrong,
    }
    return TemplateResponse(request, "admin/people/first_account.html", shown, status=status, headers=HEADERS)
