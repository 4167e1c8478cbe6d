"""Amounts of money, for the page "Costs"."""

from django import template

from assistant.admin.costs.forms import format_decimal
from assistant.spending.prices import format_money

register = template.Library()
register.filter("money", format_money)
register.filter("price", format_decimal)
