"""The page "People": members with their roles, invitations, and the forms that change them."""

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone

from docsite.core.delivery import mail, sending
from docsite.core.delivery.messages import Email
from docsite.core.sign_on.reauthentication import guard
from docsite.core.tenants import members
from docsite.core.tenants.members import MembershipError
from docsite.core.tenants.models import Invitation, Membership, Project, Role
from docsite.core.workspace import navigation
from docsite.core.workspace.posted_rows import find_posted_row

KEY = "people"


class InviteForm(forms.Form):
    """A new invitation."""

    role = forms.ChoiceField(choices=Role.choices)  # each has a button
    email = forms.EmailField(required=False, label="E-mail address")


def show_people(request: HttpRequest, project: Project) -> HttpResponse:
    """Show the people of the project's organization. Owners invite and remove people, and change roles."""
    organization = project.organization
    form, address, invitation = InviteForm(), "", None
    if request.method == "POST":
        form = InviteForm(request.POST if "invite" in request.POST else None)
        try:
            if "invite" not in request.POST:
                _change(request, project)
                return HttpResponseRedirect(navigation.page_url(KEY, project))
            if form.is_valid():
                invitation, token = members.invite(
                    organization, Role(form.cleaned_data["role"]), form.cleaned_data["email"], request.user
                )
                address = request.build_absolute_uri(reverse("invitation", args=[token]))
                _send_invitation(invitation, address)
                form = InviteForm()
        except MembershipError as refusal:
            messages.error(request, str(refusal))
    people = Membership.objects.filter(organization=organization).select_related("user").order_by("user__username")
    context = {
        "organization": organization,
        "people": people,
        "invitations": members.list_open(organization),
        "now": timezone.now(),
        "roles": Role.choices,
        "form": form,
        "address": address,
        "invitation": invitation,
        "days": members.INVITATION_LIFETIME.days,
        "rules": navigation.page_url(KEY, project, name="rules"),
        "leave": navigation.page_url(KEY, project, name="leave"),
        "is_member": people.filter(user=request.user.pk).exists(),
        "sends_mail": mail.is_configured(),
    }
    title = f"People of {organization}"
    return navigation.render(request, "admin/people/list.html", project, title, context, wrong=form.errors)


def leave(request: HttpRequest, project: Project) -> HttpResponse:
    """Ask whether the user wants to leave the organization. A POST ends the membership."""
    member = Membership.objects.filter(organization=project.organization_id, user=request.user.pk).first()
    if request.method == "POST" and member:
        try:
            members.remove(member)
        except MembershipError as refusal:
            messages.error(request, str(refusal))
            return HttpResponseRedirect(navigation.page_url(KEY, project))
        messages.success(request, f"You have left {project.organization}.")
        return HttpResponseRedirect(reverse("admin:index"))
    context = {"organization": project.organization, "is_member": member, "people": navigation.page_url(KEY, project)}
    return navigation.render(request, "admin/people/leave.html", project, f"Leave {project.organization}", context)


def _change(request: HttpRequest, project: Project) -> None:
    """Change a role, remove a member or withdraw an invitation, as the form names it."""
    organization = project.organization
    if invitation := find_posted_row(members.list_open(organization), request.POST.get("withdraw", "")):
        invitation.delete()
        messages.success(request, "The invitation is withdrawn.")
        return
    people = Membership.objects.filter(organization=organization).select_related("user")
    if member := find_posted_row(people, request.POST.get("remove", "")):
        members.remove(member)
        messages.success(request, f"{member.user} does not belong to {organization} any more.")
        return
    role, member = request.POST.get("role"), find_posted_row(people, request.POST.get("member", ""))
    if member and role in Role.values:
        if member.is_from_groups:
            raise MembershipError(f"Groups decide about {member.user}. Change the role of the group.")
        members.change_role(member, Role(role))
        messages.success(request, f"{member.user} is {request.POST['role']} now.")
    else:
        messages.error(request, "This person or invitation is not here any more.")


def _send_invitation(invitation: Invitation, address: str) -> None:
    """Send the link now: it is not stored. A failure is, for the owner, who can copy the link, and for `doctor`."""
    if not mail.is_configured() or not invitation.email:
        return
    text = (
        f"You are invited to {invitation.organization} on its documentation service, as {invitation.role}.\n\n"
        f"{address}\n\n"
        f"The link works once, until {invitation.expires_at:%Y-%m-%d %H:%M} UTC.\n"
    )
    email = Email([invitation.email], f"Invitation to {invitation.organization}", text)
    is_sent, sentence = sending.try_to_send(email, "invitation")
    if not is_sent:
        invitation.mail_failure = sentence[:400]
        invitation.save(update_fields=["mail_failure"])


navigation.add_page(
    KEY,
    "People",
    group="Access",
    position=82,
    views=[("", show_people, "")],
    reads=Role.VIEWER,
)
guard("workspace_people")
navigation.add_page_address(KEY, "leave", leave, "leave", reads=Role.VIEWER, acts=Role.VIEWER)
