"""The addresses of the wizard in the admin."""

from docsite.core.workspace import navigation
from docsite.setup import install, views

navigation.add_address("new-project/", views.start, "new_project")
navigation.add_address("new-project/<slug:token>/", views.check, "new_project_check")
navigation.add_address("new-project/<slug:token>/project", views.name, "new_project_name")
navigation.add_page(
    "install",
    "Install",
    group="Set-up",
    position=70,
    views=[
        ("", install.show_tag, ""),
        ("state", install.tag_state, "state"),
        ("pages", install.show_pages, "pages"),
    ],
)
