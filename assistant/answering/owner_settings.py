"""The settings of a project's owner, as answers use them."""

from assistant.answering.question import AnswerSettings
from assistant.models import AssistantSettings


def to_answer_settings(owner: AssistantSettings) -> AnswerSettings:
    """The settings that the answering pipeline uses. A support form takes the place of the support link."""
    support_url = owner.support_form_url or owner.support_url
    return AnswerSettings(owner.instructions.strip(), owner.deflection.strip(), support_url, owner.threshold)
