"""Generated inputs against a running service: small in `make test`, large in `make fuzz`."""
