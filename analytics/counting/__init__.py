"""Count visitors by addition: raw views become cells, and a report is a sum of cells.

Others import `cells` (the sums), `pages` (numbers of paths, and `(other)` beyond a limit), `agent_views` (sums of
clients that are not people), `sealer` (views into cells), `unsealed` (projects whose views wait for it), `background`
(its thread), `sweeper` (removes what is too old), `erasure` (removes visitors), `recount`, `visit_history`,
`audiences` (numbers of where readers come from), `new_values` (the counters behind both limits), `stored_cells` and
`partitions` (of the table of raw views).
"""
