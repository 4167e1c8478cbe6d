"""Support requests in the admin: `list_page`, `detail` (one request, its deliveries) and `settings_page`."""

from assistant.admin.support_requests import detail, list_page, settings_page
from assistant.models import SupportSettings
from docsite.core.workspace import extensions, navigation

navigation.add_page(
    list_page.KEY,
    "Support requests",
    group="Questions",
    position=45,
    views=[
        ("", list_page.show_list, ""),
        ("settings", settings_page.show_settings, "settings"),
        ("<slug:request_id>", detail.show_detail, "detail"),
    ],
)
extensions.add_settings(extensions.PRIVACY, SupportSettings, "days")
