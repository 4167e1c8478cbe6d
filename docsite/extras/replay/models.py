"""What owners think of answers."""

from django.conf import settings
from django.db import models

from assistant.models import Message
from docsite.core.tenants.models import Project


class Judgement(models.Model):
    """An owner's judgement of an answer without a model. It is deleted with the answer."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    answer = models.OneToOneField(Message, on_delete=models.CASCADE, related_name="judgement")
    is_right = models.BooleanField()
    judged_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    judged_at = models.DateTimeField(auto_now=True)

    def __str__(self) -> str:
        return f"answer {self.answer_id} is {'right' if self.is_right else 'wrong'}"
