"""The addresses of share links, which are public."""

from django.urls import path

from analytics.dashboard import shared

urlpatterns = [path("<str:token>", shared.show_report, name="shared_report")]
