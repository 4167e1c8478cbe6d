"""The endpoints that are called most, without Django's request handler, its URL resolver and Ninja.

Others import `handler`. What it runs is the same: the API middleware, the check and the function of the endpoint, as
Ninja describes them. Any other request, such as one with a wrong method, goes to Django.
"""
