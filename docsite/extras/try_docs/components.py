"""What runs beside the requests."""

from docsite.core.components import Component
from docsite.extras.try_docs.trials import delete_old

COMPONENTS = (Component(name="tried documentation", sweep=delete_old),)
