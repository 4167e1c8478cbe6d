"""The table of this part."""

from django.db import models


class UsedSignature(models.Model):
    """A signature that was accepted. It is not accepted again."""

    digest = models.CharField(max_length=43, primary_key=True, help_text="SHA-256 of what was signed, in base64url.")
    view = models.CharField(max_length=43, help_text="The same of the id of its view.")
    ends_at = models.DateTimeField(db_index=True, help_text="From when on its time would have it refused anyway.")

    def __str__(self) -> str:
        return self.digest
