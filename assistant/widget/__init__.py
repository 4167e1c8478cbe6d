"""The service side of the widget: its configuration (`api`), its `files`, and first questions (`starters`)."""
