"""The forms of the page "Costs": limits in money, and the price of a model."""

from decimal import Decimal
from typing import Any

from django import forms

from assistant.models import AssistantSettings, ModelPrice
from assistant.spending.model_prices import to_millionths
from assistant.spending.prices import MILLION, Price
from docsite.core.tenants.models import Project

MAX_PRICES = 100  # models of a project
_MAX_DIGITS = 13  # of an amount, six of them behind the point


def _money(**options: Any) -> forms.DecimalField:
    return forms.DecimalField(min_value=0, max_digits=_MAX_DIGITS, decimal_places=6, **options)


class LimitsForm(forms.Form):
    """The limits in money of a project."""

    daily = _money(required=False, label="A day", help_text="Empty: no limit. 0: no model is asked.")
    monthly = _money(required=False, label="A calendar month")

    def __init__(self, project: Project, data: Any = None) -> None:
        self.project = project
        own = AssistantSettings.objects.filter(project=project).first()
        stored = {"daily": own.daily_cost_limit, "monthly": own.monthly_cost_limit} if own else {}
        initial = {name: format_decimal(limit) for name, limit in stored.items() if limit is not None}
        super().__init__(data, initial=initial, prefix="limit")

    def save(self) -> None:
        """Store the limits."""
        amounts = {f"{name}_cost_limit": self.cleaned_data[name] for name in ("daily", "monthly")}
        limits = {name: None if amount is None else to_millionths(amount) for name, amount in amounts.items()}
        AssistantSettings.objects.update_or_create(project=self.project, defaults=limits)


class PriceForm(forms.Form):
    """The prices of a model for a million tokens."""

    model = forms.CharField(max_length=200, widget=forms.TextInput(attrs={"list": "models", "autocomplete": "off"}))
    read = _money(help_text="For a million tokens that the model reads.")
    cached = _money(required=False, help_text="Of those, tokens from the provider's cache. Empty: as read.")
    written = _money(help_text="For a million tokens that the model writes, its thoughts included.")

    def __init__(self, project: Project, data: Any = None) -> None:
        self.project = project
        super().__init__(data, prefix="price")

    def clean(self) -> dict[str, Any]:
        """Refuse a further model where the project has `MAX_PRICES`."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        prices = ModelPrice.objects.filter(project=self.project)
        if "model" in cleaned and prices.exclude(model=cleaned["model"]).count() >= MAX_PRICES:
            self.add_error("model", f"A project has at most {MAX_PRICES} prices. Remove one first.")
        return cleaned

    def save(self) -> None:
        """Store the price. It holds for answers that begin from now on."""
        read, written = self.cleaned_data["read"], self.cleaned_data["written"]
        cached = self.cleaned_data["cached"]
        amounts = (read, read if cached is None else cached, written)
        set_price(self.project, self.cleaned_data["model"], Price(*map(to_millionths, amounts)))


def set_price(project: Project, model: str, price: Price) -> None:
    """Store the price of a model."""
    values = {"input_price": price.prompt, "cached_input_price": price.cached, "output_price": price.reply}
    ModelPrice.objects.update_or_create(project=project, model=model, defaults=values)


def format_decimal(amount: int) -> str:
    """An amount of millionths as one writes it: 2, 0.15, 0.0375."""
    return f"{Decimal(amount) / MILLION:f}"
