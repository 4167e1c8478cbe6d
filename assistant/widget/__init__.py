"""The service side of the widget: its configuration (`api`) and its files (`files`)."""
