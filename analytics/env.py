"""The environment variables of analytics."""

from pydantic import Field

from docsite.setting_types import Rate, Settings


class AnalyticsEnv(Settings):
    """How long views are stored, and limits."""

    raw_view_days: int = Field(
        default=30,
        ge=1,
        le=400,
        description="Days for which single page views are stored. In this time counts are exact to the instant, and "
        "late views are accepted. Older ranges are exact for whole hours.",
    )
    visitor_horizon_days: int = Field(
        default=400,
        ge=31,
        le=2600,
        description="Days without a view after which a visitor is forgotten. A later view counts as a new visitor.",
    )
    limit_analytics_org: Rate = Field(
        default="100/h", description="Analytics requests per organization, as number/window (s, m, h, d)."
    )
    limit_feedback_ip: Rate = Field(
        default="1000/h", description="Feedback per client address. A thumb, a reason and a comment are three requests."
    )
    limit_collect_ip: Rate = Field(
        default="600/m",
        description="Page views and clicks that browsers report, requests for the widget's configuration, and requests "
        "of agents to the MCP server, per client address.",
    )
    limit_collect_org: Rate = Field(
        default="10000/h", description="Batches of page views per organization (up to 1,000 views each)."
    )
