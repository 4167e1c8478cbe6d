"""Deliveries to owners by e-mail and signed webhook. They are stored first, sent in the background, and retried.

Others import `outbox` (describe a kind of event, add deliveries, list and repeat them; when a failed one is due
again), `messages` (what a kind of event renders), `events` (types of events that owners choose for webhooks),
`webhooks` (addresses and secrets), `chats` (messages for Slack, Teams and Discord), `sending` (send a message now),
`mail`, `background` (the thread that sends) and `models`.

A delivery holds no content. Its kind of event renders the content from the app's own rows when it is sent, so that
personal data is in one place only, and erasing it there is enough.
"""
