"""Support requests: a reader who is not helped writes to a person, with the conversation if they wish.

Others import `store` (store a request, count forms, delete), `form_tokens` (what stops programs), `limits`, `schemas`
and `notifications` (what owners are sent).
"""
