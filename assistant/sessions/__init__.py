"""Running answers: started for a request, read by whoever comes, resumed in this process or through Redis.

Others import `start` (start an answer, forget a conversation, drain the
process), `running` (types of a running answer) and `resume` (find an answer
again). `event_log` keeps an answer's events small.
"""
