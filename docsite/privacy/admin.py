"""The audit in the admin, read-only."""

import json

from django.contrib import admin

from docsite.core.tenants.admin import ScopedAdmin
from docsite.privacy.models import AuditEntry


@admin.register(AuditEntry)
class AuditAdmin(ScopedAdmin):
    """Who changed keys, settings and roles, and who erased data. Superusers see the entries about users, too."""

    organization = "organization_id"
    list_display = ("at", "actor", "action", "object", "project", "values")
    list_filter = ("action",)
    search_fields = ("actor", "object", "project")
    date_hierarchy = "at"

    @admin.display(description="Values")
    def values(self, entry: AuditEntry) -> str:
        """The new values, or the numbers of erased rows."""
        return ", ".join(f"{name}: {json.dumps(value)}" for name, value in entry.details.items())
