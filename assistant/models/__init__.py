"""The tables of the assistant, one module for each subject.

Import the models from here. The modules `settings`, `widget`, `appearance`, `evaluations`, `question_groups` and
`support_requests` also hold limits and validators of their fields, for commands, forms and URLs.
"""

from assistant.models.conversations import ChatId, Message, Thread
from assistant.models.costs import BudgetNotice, ModelPrice, TokenReservation, TokenUse
from assistant.models.evaluations import Evaluation
from assistant.models.golden_questions import GoldenQuestion
from assistant.models.question_groups import (
    GroupAction,
    GroupedQuestion,
    GroupingProgress,
    PinnedAnswer,
    QuestionGroup,
)
from assistant.models.settings import AssistantSettings
from assistant.models.support_requests import SupportFormCount, SupportRequest, SupportSettings
from assistant.models.widget import WidgetFile, WidgetSettings
