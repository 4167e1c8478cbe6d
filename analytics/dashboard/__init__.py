"""The visitors report in the admin. Others import `visitors`, its page."""
