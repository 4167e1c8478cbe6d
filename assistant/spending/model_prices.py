"""The prices of models: the operator's, which hold for all models, or else those of the project's owner."""

from collections.abc import Iterable
from decimal import Decimal

from django.conf import settings

from assistant.models import ModelPrice
from assistant.spending.prices import MILLION, Price
from docsite.core.db import has_row


def find_prices(project_id: int | None, names: Iterable[str]) -> dict[str, Price]:
    """The prices of models by name. A model without a price is missing."""
    names = set(names)
    if price := find_operator_price():
        return dict.fromkeys(names, price)
    if not project_id or not has_row(
        f"SELECT 1 FROM {ModelPrice._meta.db_table} WHERE project_id = %s LIMIT 1", project_id
    ):
        return {}
    rows = ModelPrice.objects.filter(project=project_id, model__in=names)
    return {row.model: to_price(row) for row in rows}


def to_price(row: ModelPrice) -> Price:
    """The owner's prices as an answer is charged with them."""
    return Price(row.input_price, row.cached_input_price, row.output_price)


def find_operator_price() -> Price | None:
    """The price that the operator has set for every model of every project."""
    env = settings.ENV
    if env.openai_input_price is None and env.openai_output_price is None:
        return None
    prompt, reply = to_millionths(env.openai_input_price or 0), to_millionths(env.openai_output_price or 0)
    return Price(prompt, prompt, reply)


def to_millionths(amount: float | Decimal) -> int:
    """An amount of money in millionths of its currency, as it is written in decimals."""
    return round(Decimal(str(amount)) * MILLION)
