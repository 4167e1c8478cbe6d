"""Parts of reports: what several pages of the workspace show in the same way.

Others import `report_state` (range, order and filters in the address), `links`, `charts`, `tables`, `tiles`,
`downloads` (CSV and JSON lines), `time_steps` and `formatting`.
"""
