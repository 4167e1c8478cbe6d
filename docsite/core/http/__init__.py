"""Rules of HTTP that every endpoint shares. No models."""
