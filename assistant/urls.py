"""Addresses of the widget's files."""

import re

from django.urls import path, re_path

from assistant import delivery
from assistant.models import VERSION_LENGTH

_NAMES = "|".join(map(re.escape, delivery.BUILD))

urlpatterns = [
    path("widget.js", delivery.loader),
    path("widget.d.ts", delivery.declarations),
    path("widget/licences.txt", delivery.licences),
    re_path(rf"^widget/(?P<version>[0-9a-f]{{{VERSION_LENGTH}}})/(?P<name>{_NAMES})$", delivery.pinned),
]
