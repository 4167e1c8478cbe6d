"""Pages into the index: compare a source with the index, stage what is new, swap it in.

Others import `ingest` (read a source, index again, remove), `page_groups` (who may read a page), `build` (the running
one), `outcome` (summary and errors), `report` (what was read and lost) and `storable` (text that a database stores).
"""
