"""What the service offers to the widget: its configuration (`api`), and its files (`files`)."""
