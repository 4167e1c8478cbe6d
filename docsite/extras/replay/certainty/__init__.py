"""How sure an answer without a model must be: a threshold that is fitted on what the owner has judged.

`samples` collects judged answers and results, `fitting` computes curves and thresholds from them, `page` shows both.
"""
