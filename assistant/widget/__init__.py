"""The widget: its configuration (`api`), its `files` with their `urls`, and first questions (`starters`)."""
