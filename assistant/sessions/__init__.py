"""Running answers: started for a request, read by whoever comes, resumed in this process or through Redis.

Others import `start` (ask, forget, drain), `running` (types of a running
answer) and `resume` (find an answer again).
"""
