"""Places organizations on several deployments, each with a database of its own, behind one nginx.

`deployments` adds a deployment, `move` moves an organization, `removal` deletes the copy that it leaves behind, and
`nginx_map` tells nginx where each project lives. Of a move, `tables` says what belongs to an organization, `settling`
lets the running work end, `fence` refuses writes in the database, `users` matches people, and `copying` carries rows.
"""
