"""The tables of analytics, one module for each subject. Import the models from here.

Others also import `left_out` (the list of what a project does not count).
"""

from analytics.models.agents import AgentAddresses, AgentViews
from analytics.models.counts import EPOCH, AudienceCells, Cells, Seal, Trail, UnsealedProject
from analytics.models.feedback import Feedback, FeedbackNote
from analytics.models.page_views import Audience, LogImport, Page, PageView, ViewKeys
from analytics.models.reports import Annotation, ShareLink, Snapshot
from analytics.models.settings import AnalyticsSettings, VisitorSecret, new_visitor_secret

__all__ = [
    "EPOCH",
    "AgentAddresses",
    "AgentViews",
    "AnalyticsSettings",
    "Annotation",
    "Audience",
    "AudienceCells",
    "Cells",
    "Feedback",
    "FeedbackNote",
    "LogImport",
    "Page",
    "PageView",
    "Seal",
    "ShareLink",
    "Snapshot",
    "Trail",
    "UnsealedProject",
    "ViewKeys",
    "VisitorSecret",
    "new_visitor_secret",
]
