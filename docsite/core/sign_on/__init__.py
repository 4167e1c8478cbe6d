"""How staff log in: by password, with a second factor, or by single sign-on with an OpenID Connect provider.

Others import `password` (the form and its limits), `log_in_page` (the form for codes), `provider` (its name, and
whether there is one), `reauthentication` (which forms of the admin need a proof of who is there), `single_sign_on` (its
addresses), `two_factor` (codes), `sessions`, `models` and `urls`.
"""
