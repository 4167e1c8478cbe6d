"""The page "Readers": the keys with which the owner's site signs tokens for its readers."""

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from docsite.core.access.reader_tokens import MAX_SECONDS, READER_TOKEN_HEADER
from docsite.core.access.readers import MAX_GROUPS
from docsite.core.sign_on.reauthentication import guard
from docsite.core.tenants.models import Project, ReaderKey
from docsite.core.workspace import navigation
from docsite.core.workspace.posted_rows import find_posted_row

MAX_KEYS = 20  # of a project that work at once
MAX_PEM = 2000  # characters


class NewReaderKeyForm(forms.Form):
    """A new key for the tokens of readers."""

    algorithm = forms.ChoiceField(choices=ReaderKey.Algorithm.choices)
    name = forms.CharField(max_length=100, required=False, help_text="Helps you to recognize the key.")
    public_key = forms.CharField(
        required=False,
        max_length=MAX_PEM,
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false"}),
        help_text="For EdDSA: your Ed25519 public key in PEM. The private key stays with you.",
    )

    def clean(self) -> dict[str, object]:
        """Require a public key for EdDSA, and none for HS256."""
        cleaned = super().clean() or self.cleaned_data
        if "public_key" in cleaned and "algorithm" in cleaned:
            is_needed = cleaned["algorithm"] == ReaderKey.Algorithm.EDDSA
            if is_needed != bool(cleaned["public_key"]):
                self.add_error(
                    "public_key", "Paste your public key." if is_needed else "An HS256 key has no public key."
                )
            elif is_needed:
                try:
                    cleaned["public_key"] = normalize_public_key(cleaned["public_key"])
                except ValidationError as wrong:
                    self.add_error("public_key", wrong)
        return cleaned


def normalize_public_key(pem: str) -> str:
    """An Ed25519 public key in the usual PEM. Raises ValidationError for anything else, such as a private key."""
    # Imported here: it takes 10 MB, and most services have no reader keys.
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_public_key

    try:
        key = load_pem_public_key(pem.encode())
    except (ValueError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, Ed25519PublicKey):
        raise ValidationError("This is not an Ed25519 public key in PEM (BEGIN PUBLIC KEY).")
    return key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


def show_keys(request: HttpRequest, project: Project) -> HttpResponse:
    """Show the keys of a project; create and revoke keys. A secret is shown once."""
    keys = ReaderKey.objects.filter(project=project)
    if request.method == "POST" and "revoke" in request.POST:
        key = find_posted_row(keys.filter(revoked_at=None), request.POST["revoke"])
        if key:
            key.revoke()
            messages.success(request, f"Key {key} is revoked.")
        return HttpResponseRedirect(request.path)
    form = NewReaderKeyForm(request.POST or None)
    created: ReaderKey | None = None
    if request.method == "POST" and form.is_valid():
        if keys.filter(revoked_at=None).count() >= MAX_KEYS:
            form.add_error(None, f"A project has at most {MAX_KEYS} keys. Revoke one first.")
        else:
            created = ReaderKey.objects.create(project=project, **form.cleaned_data)
            form = NewReaderKeyForm()
    context = {
        "keys": keys,
        "form": form,
        "created": created,
        "secret": created.secret if created and created.algorithm == ReaderKey.Algorithm.HS256 else "",
        "header": READER_TOKEN_HEADER,
        "hours": MAX_SECONDS // 3600,
        "max_groups": MAX_GROUPS,
        "protected": navigation.find_url("protected", project),
    }
    return navigation.render(
        request, "admin/projects/reader_keys.html", project, "Reader keys", context, wrong=form.errors
    )


navigation.add_page("readers", "Reader keys", group="Access", position=81, views=[("", show_keys, "")])
guard("workspace_readers")
