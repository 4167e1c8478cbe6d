"""Single sign-on by OpenID Connect, for `docsite.core.sign_on`, which has the pages, the accounts and the roles."""
