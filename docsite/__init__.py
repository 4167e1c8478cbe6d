"""The shell (settings, URLs, pages) and the ground (tenants, HTTP rules) of the service."""
