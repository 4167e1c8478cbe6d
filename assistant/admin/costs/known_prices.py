"""Published prices of well-known models. They are proposals: a price holds when an owner sets it."""

import tomllib
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cache
from pathlib import Path

from assistant.spending.model_prices import to_millionths
from assistant.spending.prices import Price

FILE = Path(__file__).with_name("known_prices.toml")


@dataclass(frozen=True)
class KnownPrice:
    """A published price of a model, and the page of its provider."""

    model: str
    provider: str
    source: str
    price: Price


@dataclass(frozen=True)
class PriceTable:
    """The published prices by the names of their models, with the day on which they were looked up."""

    checked_on: date
    currency: str
    prices: dict[str, KnownPrice]


@cache
def load_table() -> PriceTable:
    """The table of the file `known_prices.toml`."""
    content = tomllib.loads(FILE.read_text())
    prices = {
        model: KnownPrice(
            model, provider["name"], provider["source"], Price(*(to_millionths(Decimal(text)) for text in texts))
        )
        for provider in content["providers"]
        for model, texts in provider["models"].items()
    }
    return PriceTable(content["checked_on"], content["currency"], prices)
