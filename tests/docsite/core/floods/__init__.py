"""Inputs that would keep a process busy: bodies, marks and patterns, each in linear time."""
