"""Signed agents (Web Bot Auth): the signatures of requests (RFC 9421) prove which site a client belongs to.

https://datatracker.ietf.org/doc/draft-ietf-webbotauth-httpsig-protocol/
"""
