"""An ordered log in front of the database, in NATS JetStream, for `VIEW_LOG_URL`: it acknowledges views.

A view is acknowledged when the stream has stored it, whether or not the database answers. A thread writes what the
stream holds with `writer`, like views without a log, and then removes it from the stream. A message that is delivered
again changes nothing, since the writer knows the keys of the stored views.

Others import `publisher` (views into the log), `consumer` (its thread), `state` (what waits; wait until it is
stored) and the error of `connection`, which is the only module that knows NATS.
"""
