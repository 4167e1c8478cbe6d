"""An ordered log in front of the database, in NATS JetStream, for `VIEW_LOG_URL`: it acknowledges views.

A view is acknowledged when the stream has stored it, whether or not the database answers. A thread writes what the
stream holds with `writer`, like views without a log, and then removes it from the stream. A message that is delivered
again changes nothing, since the writer knows the keys of the stored views.

`apps` hands `publisher` (views into the log) and `state` (wait until the log is emptied) to `analytics.collecting`.
`consumer` is the thread that empties it. Only `connection` knows NATS.
"""
