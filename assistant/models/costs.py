"""What answers cost, what running ones may cost, prices of models, and notices about limits of tokens and money."""

from typing import ClassVar

from django.db import models
from django.utils import timezone

from docsite.core.tenants.models import Project


class TokenUse(models.Model):
    """What the model servers have cost a project on one day (UTC). Running answers are not in it.

    The cost is added when it arises, at the prices of then, so new prices do not change it.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="token_uses")
    day = models.DateField()
    tokens = models.PositiveBigIntegerField(default=0)
    cost = models.PositiveBigIntegerField(
        default=0, db_default=0, help_text="In millionths of the currency of the prices."
    )
    unpriced_tokens = models.PositiveBigIntegerField(
        default=0, db_default=0, help_text="Of these, tokens of models without a price. They are not in the cost."
    )

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["project", "day"], name="one_token_use_a_day")]

    def __str__(self) -> str:
        return f"{self.day}: {self.tokens}"


class TokenReservation(models.Model):
    """What one answer may cost while it runs, and what it has used: on the day on which it began (UTC).

    After its end, nothing is reserved, and what it has used is in `TokenUse`. Rows are deleted after the next day.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    day = models.DateField()
    address = models.CharField(max_length=32, blank=True, help_text="Keyed hash of the asker's address and the day.")
    reserved_tokens = models.PositiveBigIntegerField()
    reserved_cost = models.PositiveBigIntegerField()
    used_tokens = models.PositiveBigIntegerField()
    used_cost = models.PositiveBigIntegerField()
    unpriced_tokens = models.PositiveBigIntegerField(default=0, db_default=0, help_text="Of those used.")
    expires_at = models.DateTimeField(help_text="If the answer is not saved until then, its process was killed.")

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["project", "day", "address"], name="tokens_of_an_address"),
            models.Index(
                fields=["project", "day"], condition=models.Q(reserved_tokens__gt=0), name="tokens_of_running_answers"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.day}: {self.used_tokens} of {self.reserved_tokens}"


class ModelPrice(models.Model):
    """The owner's prices of a model for a million tokens, in millionths of the currency.

    A new price holds for answers that begin after it: what was charged before stays as it is.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    model = models.CharField(max_length=200, help_text="As it is configured.")
    input_price = models.PositiveBigIntegerField()
    cached_input_price = models.PositiveBigIntegerField()
    output_price = models.PositiveBigIntegerField()
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["project", "model"], name="one_price_a_model")]

    def __str__(self) -> str:
        return self.model


class BudgetNotice(models.Model):
    """A project has used 80 % of a limit of its budget, or has reached it: a row for each, in each day or month.

    A limit of another size has rows of its own. A row is stored in one transaction with the charge that led to it, or
    with the refusal to ask a model. So a receiver of `post_save` (`created`) can add deliveries to the outbox in
    the same transaction.
    """

    class Period(models.TextChoices):
        """The time of a limit (UTC)."""

        DAILY = "daily"
        MONTHLY = "monthly"

    class Field(models.TextChoices):
        """What is limited."""

        TOKENS = "tokens"
        COST = "cost"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    period = models.CharField(max_length=7, choices=Period.choices)
    field = models.CharField(max_length=6, choices=Field.choices)
    starts_on = models.DateField(help_text="The first day of the period.")
    size = models.PositiveBigIntegerField(help_text="Of the limit, in tokens or in millionths of the currency.")
    percent = models.PositiveSmallIntegerField(help_text="80 or 100.")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["project", "period", "field", "starts_on", "size", "percent"], name="one_budget_notice"
            )
        ]

    def __str__(self) -> str:
        name = f"{self.period} {self.field.removesuffix('s')} limit"
        return f"The {name} is reached." if self.percent == 100 else f"{self.percent} % of the {name} are used."
