"""The settings of analytics, which are read from environment variables."""

from pydantic import Field

from docsite.setting_types import Rate, Settings


class AnalyticsEnv(Settings):
    """How long views are stored, and limits."""

    raw_view_days: int = Field(default=30, ge=1, le=400)
    visitor_horizon_days: int = Field(default=400, ge=31, le=2600)
    limit_analytics_org: Rate = "100/h"
    limit_feedback_ip: Rate = "1000/h"
    limit_collect_ip: Rate = "600/m"
    limit_collect_org: Rate = "10000/h"
