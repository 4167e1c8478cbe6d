"""Running answers: started for a request, followed by subscribers, resumed in this process or through Redis.

Others import `start` (start an answer, forget a conversation, drain the
process), `running` (types of a running answer) and `resume` (find an answer
again), `model_rests` (share which models rest) and `erasure` (erase conversations and requests of readers).
`event_log` keeps the events of an answer in little memory.
"""
