"""The page "Costs" of a project: prices of models, limits in money, and what answers have cost."""

from assistant.admin.costs import page
