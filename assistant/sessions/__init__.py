"""Running answers: followed by subscribers, resumed in this process or through Redis.

Others import `running` (types of a running answer), `resume` (find an answer again) and `model_rests` (share which
models rest). `event_log` keeps the events of an answer in little memory.
"""
