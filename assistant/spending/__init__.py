"""What models cost, and what they may cost.

Others import `prices` (what tokens cost), `model_prices` (the prices of a model), `budget` (the limits of a
project), `reservations` (what running answers use of it) and `cost_report` (costs by day and month).
"""
