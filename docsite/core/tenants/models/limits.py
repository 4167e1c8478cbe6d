"""What is counted for limits, and how much of each limit is used."""

from typing import ClassVar

from django.db import models


class Counter(models.Model):
    """The count of one rate-limit window. `docsite.core.http.counters` writes it in plain SQL."""

    key = models.CharField(max_length=250, primary_key=True)
    value = models.BigIntegerField()
    expires_at = models.FloatField(db_index=True)

    def __str__(self) -> str:
        return f"{self.key}: {self.value}"


class LimitUse(models.Model):
    """How much of a limit was used in an hour. `docsite.core.http.limit_use` writes it in plain SQL."""

    limit_name = models.CharField(max_length=40)
    organization_id = models.BigIntegerField(help_text="0: of the whole service.")
    hour = models.PositiveIntegerField(help_text="Hours since 1970.")
    most = models.PositiveBigIntegerField(help_text="The most that one caller had used at the end of a request.")
    refused = models.PositiveBigIntegerField(default=0, help_text="Requests that were refused.")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["limit_name", "organization_id", "hour"], name="one_limit_use_an_hour")
        ]
        indexes: ClassVar = [models.Index(fields=["hour"], name="limit_uses_by_hour")]

    def __str__(self) -> str:
        return f"{self.limit_name}: {self.most}"
