"""Settings of a host that has another build of the widget."""

import os
from pathlib import Path

from docsite.settings import *  # noqa: F403

WIDGET_DIST = Path(os.environ["OTHER_BUILD"])
