"""The widget's side of the service: its configuration, and its files at addresses that never change."""
