"""Tests of several deployments, and of moving an organization between them."""
