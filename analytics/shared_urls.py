"""The addresses of share links, which are public."""

from django.urls import path

from analytics.dashboard import share_links

urlpatterns = [path("<str:token>", share_links.show_report, name="shared_report")]
