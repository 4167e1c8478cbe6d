"""Builds the widget before a wheel is made of this project, as `pip install .` does."""

import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class BuildWidget(BuildHookInterface):  # type: ignore[type-arg]
    """Runs `make widget` if the widget is not built yet."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the widget."""
        if not (Path(self.root) / "static" / "widget" / "dist" / "widget.js").exists():
            subprocess.run(["make", "widget"], cwd=self.root, check=True)
