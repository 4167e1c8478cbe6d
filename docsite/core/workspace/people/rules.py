"""The page "Log-in" of an organization: whether passwords open it, and which roles groups of the provider have."""

from typing import Any, ClassVar

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from docsite.core.sign_on import provider
from docsite.core.sign_on.models import GroupRole, Identity
from docsite.core.sign_on.reauthentication import guard
from docsite.core.tenants.log_in_rules import Method, get_method
from docsite.core.tenants.models import Membership, Organization, Project, Role
from docsite.core.workspace import navigation
from docsite.core.workspace.posted_rows import find_posted_row

MAX_GROUPS = 200  # with a role in one organization
OPERATOR_ONLY = "This service has several organizations, so its operator (a superuser) gives groups their roles."
OWN_SESSION_FIRST = {
    "requires_single_sign_on": "Log in by single sign-on yourself first. This shows that it works, and keeps you in.",
    "requires_second_factor": "Set up two-factor log-in for yourself first, and log in with it.",
}


class RulesForm(forms.ModelForm):  # type: ignore[type-arg]  # Django has no such argument
    """Two requirements. Owners can switch on only one that their own session meets, so nobody locks themselves out."""

    class Meta:
        model = Organization
        fields = ("requires_single_sign_on", "requires_second_factor")

    def __init__(self, request: HttpRequest, *arguments: Any, **values: Any) -> None:
        super().__init__(*arguments, **values)
        method = get_method(request)
        self.fulfilled = {
            "requires_single_sign_on": method == Method.SINGLE_SIGN_ON,
            "requires_second_factor": method != Method.PASSWORD,
        }
        self.is_superuser = request.user.is_superuser

    def clean(self) -> dict[str, Any]:
        """Refuse a new requirement that would close the organization to the owner."""
        cleaned = super().clean() or self.cleaned_data
        for name in self.changed_data:
            if not cleaned[name]:
                continue
            if name == "requires_single_sign_on" and not provider.is_configured():
                self.add_error(name, "This service has no provider for single sign-on.")
            elif not (self.fulfilled[name] or self.is_superuser):
                self.add_error(name, OWN_SESSION_FIRST[name])
        return cleaned


class GroupForm(forms.ModelForm):  # type: ignore[type-arg]  # Django has no such argument
    """A group and its role."""

    class Meta:
        model = GroupRole
        fields: ClassVar = ["group", "role"]
        help_texts: ClassVar = {"group": "Exactly as the provider names it; some send a number instead of a name."}

    def clean_group(self) -> str:
        """Refuse a group that has a role already, and too many groups."""
        rows = GroupRole.objects.filter(organization=self.instance.organization_id)
        if rows.filter(group=self.cleaned_data["group"]).exists():
            raise forms.ValidationError("This group has a role already. Remove it first.")
        if rows.count() >= MAX_GROUPS:
            raise forms.ValidationError(f"At most {MAX_GROUPS} groups can have roles.")
        return str(self.cleaned_data["group"])


def show_rules(request: HttpRequest, project: Project) -> HttpResponse:
    """Show and change how members of the project's organization log in.

    All organizations share the provider, and its groups. If every owner could give a role to any group, one could make
    the people of another organization members of the own one. So only superusers do, unless there is one organization.
    """
    organization = project.organization
    posted = request.POST if request.method == "POST" else {}
    rules = RulesForm(request, posted if "rules" in posted else None, instance=organization)
    group = GroupForm(
        posted if "add" in posted else None, instance=GroupRole(organization=organization, role=Role.VIEWER)
    )
    may_give_roles = request.user.is_superuser or Organization.objects.count() == 1
    if group.is_bound and not may_give_roles:
        group.add_error(None, OPERATOR_ONLY)
    saved = _save(request, project, rules, group)
    if saved:
        messages.success(request, saved)
        return HttpResponseRedirect(navigation.page_url("people", project, name="rules"))
    context = {
        "organization": Organization.objects.get(pk=organization.pk),  # the form has changed the other one
        "form": rules,
        "group_form": group,
        "may_give_roles": may_give_roles,
        "operator_only": OPERATOR_ONLY,
        "groups": GroupRole.objects.filter(organization=organization),
        "provider_name": provider.get_name(),
        "unconnected": list_unconnected(organization, own.issuer) if (own := provider.find()) else [],
        "people": navigation.page_url("people", project),
    }
    title, wrong = f"Log-in to {organization}", rules.errors or group.errors
    return navigation.render(request, "admin/people/rules.html", project, title, context, wrong=wrong)


def list_unconnected(organization: Organization, issuer: str) -> list[str]:
    """The names of members who cannot log in at this provider yet, superusers excepted."""
    known = Identity.objects.filter(issuer__startswith=issuer)
    own = Membership.objects.filter(organization=organization, user__is_superuser=False, user__is_active=True)
    others = own.exclude(user__in=known.values("user")).order_by("user__username")
    return list(others.values_list("user__username", flat=True))


def _save(request: HttpRequest, project: Project, rules: RulesForm, group: GroupForm) -> str:
    """Save the form that was sent, or remove a group. Returns a sentence, if something was done."""
    if rules.is_bound and rules.is_valid():
        organization = rules.save(commit=False)
        organization.save(update_fields=rules.Meta.fields)
        return "Saved."
    if group.is_bound and group.is_valid():
        row = group.save()
        return f"The group {row.group} is {row.role} from the next log-in on."
    rows = GroupRole.objects.filter(organization=project.organization_id)
    if row := find_posted_row(rows, request.POST.get("remove", "")):
        row.delete()
        return f"The group {row.group} gives no role any more, from the next log-in on."
    return ""


navigation.add_page_address("people", "log-in", show_rules, "rules")
guard("workspace_people_rules")
