"""E-mail to the people of a project: a weekly digest, and alerts. Each person chooses, and can unsubscribe by a link.

Others import `topics` (what people choose), `alerts` (register a check), `digest` (register a section),
`email_content` (the form of such an e-mail), `subscriptions` (who gets what, and the link that ends it),
`confirmation` (the link that confirms an address), `routines` (work that one process of all does now and then),
`background` (the thread that looks for alerts and writes digests) and `models`.
"""
