"""Pages of the admin that show numbers.

Others import `visitors` (the visitors report), `overview` (the home), `agents`, `agent_page` and `agent_table` (the
report of agents, the page of one, and the rows of both), `annotation_form`, `live` (who reads now), `share_links` and
`next_steps` (what waits).
"""
