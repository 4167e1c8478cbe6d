"""“Paste your docs address”: a throw-away project of somebody's documentation, in some twenty seconds.

The field stands on the first page, for whoever sits at the machine of a demo and for signed-in owners. The project has
search, assistant and starter questions, and is deleted after a day unless somebody keeps it.
"""
