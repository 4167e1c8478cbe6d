"""Collect page views: turn a request into a view with its class and visitor, and store it."""
