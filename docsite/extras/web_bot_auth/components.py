"""What of signed agents runs beside the requests."""

from docsite.core.components import Component
from docsite.extras.web_bot_auth.verification import sweep

COMPONENTS = (Component(name="used signatures", sweep=sweep),)
