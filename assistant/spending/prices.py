"""What tokens cost. All amounts are integers, so that sums are exact. Imports no Django.

Money is in millionths of the currency in which the prices are, whichever that is.
"""

from dataclasses import dataclass
from operator import add

import msgspec
from msgspec.structs import astuple

MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """The prices of a million tokens of a model: of the prompt, of its cached part, and of the reply."""

    prompt: int
    cached: int
    reply: int


class Charge(msgspec.Struct, frozen=True):
    """Tokens that a project pays for, and what they cost.

    `exact_cost` is in millionths of `cost`: a price for a million tokens times a number of tokens.
    `unpriced_tokens` are those of models without a price. They are among the tokens, and not in the cost.
    """

    prompt_tokens: int = 0
    reply_tokens: int = 0
    exact_cost: int = 0
    unpriced_tokens: int = 0

    def __add__(self, other: "Charge") -> "Charge":
        return Charge(*map(add, astuple(self), astuple(other)))

    @property
    def tokens(self) -> int:
        """All tokens."""
        return self.prompt_tokens + self.reply_tokens

    @property
    def cost(self) -> int:
        """The cost, rounded up to a millionth of the currency."""
        return -(-self.exact_cost // MILLION)


NOTHING = Charge()


def compute_charge(price: Price | None, prompt_tokens: int, reply_tokens: int, cached_tokens: int = 0) -> Charge:
    """What a model's tokens cost. The cached tokens are some of those of the prompt. None: it has no price."""
    if price is None:
        return Charge(prompt_tokens, reply_tokens, 0, prompt_tokens + reply_tokens)
    cached = min(cached_tokens, prompt_tokens)
    cost = (prompt_tokens - cached) * price.prompt + cached * price.cached + reply_tokens * price.reply
    return Charge(prompt_tokens, reply_tokens, cost)


def format_money(amount: int) -> str:
    """An amount for people: two decimals, and more where it is small, such as 1,234.50, 0.0018 or 0.000012."""
    if amount >= MILLION:
        return f"{amount / MILLION:,.2f}"
    text = f"{amount / MILLION:.4f}" if amount >= 100 else f"{amount / MILLION:.6f}"
    return text[:4] + text[4:].rstrip("0")
