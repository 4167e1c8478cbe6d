"""Pages of the admin that show numbers.

Others import `visitors` (the visitors report), `overview` (the home), `agents` and `agent_page` (the report of agents,
and the page of one), `annotation_form`, `live` (who reads now) and `share_links`.
"""
