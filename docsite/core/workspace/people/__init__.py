"""The people of an organization in the admin: their list, invitations, roles, and the page of an invitation's link."""
