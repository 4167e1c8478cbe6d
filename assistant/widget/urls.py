"""The addresses of the widget's files."""

import re

from django.urls import path, re_path

from assistant.models.widget import VERSION_LENGTH
from assistant.widget import files

_NAMES = "|".join(map(re.escape, files.BUILD))

urlpatterns = [
    path("widget.js", files.latest, {"name": files.LOADER}),
    path("search.js", files.latest, {"name": files.SEARCH}),
    path("widget.d.ts", files.declarations),
    path("widget/licences.txt", files.licences),
    re_path(rf"^widget/(?P<version>[0-9a-f]{{{VERSION_LENGTH}}})/(?P<name>{_NAMES})$", files.pinned),
]
