"""Running answers: followed by subscribers, resumed in this process or through Redis.

Others import `running` (a running answer; the keep-alive of a silent one, and the end of all before the process ends),
`capacity` (how many may run at once), `resume` (find an answer again) and `model_rests` (share which models rest).
`event_log` keeps the events of an answer in little memory, `waiting` wakes its subscribers, and `redis_client` connects
to Redis.
"""
