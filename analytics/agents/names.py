"""The names of clients and the hosts of AI companies, as `names.toml` lists them."""

import tomllib
from pathlib import Path

Names = dict[str, list[str]]  # of each operator

_FILE = tomllib.loads(Path(__file__).with_name("names.toml").read_text())
AI_HOSTS: frozenset[str] = frozenset(_FILE.pop("hosts"))
TABLES: dict[str, Names] = _FILE
