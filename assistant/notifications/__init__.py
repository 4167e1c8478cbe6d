"""What the assistant says in the e-mail of people: alerts about models and budgets, and sections of the digest.

Others import `alerts` and `digest`, to register them.
"""
