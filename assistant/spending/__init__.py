"""What models cost, and what they may cost.

Others import `prices` (what tokens cost), `model_prices` (the prices of a model), `budget` (the limits of a
project), `answer_budget` (what running answers reserve and use of it) and `cost_report` (costs by day and month).
"""
