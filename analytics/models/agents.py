"""Views of agents, and the addresses of agents."""

from typing import ClassVar

from django.db import models

from analytics.models.page_views import PageView
from docsite.core.tenants.models import Project


class AgentViews(models.Model):
    """The views of one client that is not a person, in an hour or a day. The sealer sums them up."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, db_index=False)
    span = models.PositiveSmallIntegerField(help_text="Hours: 1 or 24.")
    start = models.PositiveIntegerField(help_text="Hours since 1970, UTC.")
    client_class = models.CharField(max_length=14, choices=PageView.Class.choices)
    agent = models.CharField(max_length=80, blank=True)
    rule = models.CharField(max_length=80)
    surface = models.CharField(max_length=4, choices=PageView.Surface.choices)
    verified = models.CharField(max_length=3, choices=PageView.Verified.choices, blank=True)
    operator = models.CharField(max_length=80, blank=True)
    views = models.BigIntegerField()
    last_at = models.BigIntegerField(help_text="Microseconds since 1970, UTC.")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["project", "span", "start", "client_class", "agent", "rule", "surface", "verified"],
                name="one_row_an_agent_and_bucket",
            )
        ]

    def __str__(self) -> str:
        return f"{self.agent or self.client_class}: {self.views}"


class AgentAddresses(models.Model):
    """The addresses of an agent, as its operator publishes them."""

    agent = models.CharField(max_length=80, unique=True, help_text="The agent's name, as the rules spell it.")
    networks = models.JSONField(help_text="CIDR ranges.")
    source = models.CharField(max_length=400, help_text="File or address from which they were read.")
    read_at = models.DateTimeField(auto_now=True)

    class Meta:
        verbose_name_plural = "agent addresses"
        ordering: ClassVar = ["agent"]

    def __str__(self) -> str:
        return self.agent
