"""Template tags of the assistant for templates of other apps."""
