"""Support requests in the admin: `list_page`, `detail` (one request, its deliveries) and `settings_page`."""

from assistant.admin.support_requests import detail, list_page, settings_page
from assistant.models import SupportSettings
from docsite.core.sign_on.reauthentication import guard
from docsite.core.tenants.models import Role
from docsite.core.workspace import extensions, navigation

# Before the page of a request, whose route would match.
navigation.add_page_address(list_page.KEY, "settings", settings_page.show_settings, "settings")
guard(f"workspace_{list_page.KEY}_settings", when=lambda request: "test" not in request.POST)
navigation.add_page(
    list_page.KEY,
    "Support requests",
    group="Questions",
    position=45,
    views=[
        ("", list_page.show_list, ""),
        ("<slug:request_id>", detail.show_detail, "detail"),
    ],
    reads=Role.WRITER,  # they hold addresses of readers
    acts=Role.WRITER,
)
extensions.add_settings(extensions.PRIVACY, SupportSettings, "days")
