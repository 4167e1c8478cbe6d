"""What templates of other apps may ask of the assistant."""
