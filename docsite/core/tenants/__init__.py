"""The ground every app stands on: organizations, their projects, and the keys that open them."""
