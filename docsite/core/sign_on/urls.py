"""The addresses of the log-in, below `/admin/login/`."""

from django.urls import path

from docsite.core.sign_on import log_in_page, single_sign_on

urlpatterns = [
    path("", log_in_page.login),
    path("code", log_in_page.ask_code, name="log_in_code"),
    path("proof", log_in_page.ask_proof, name="log_in_proof"),
    path("single-sign-on", single_sign_on.start, name="single_sign_on"),
    path("single-sign-on/callback", single_sign_on.finish, name="single_sign_on_callback"),
    path("single-sign-on/connect", single_sign_on.connect, name="single_sign_on_connect"),
]
