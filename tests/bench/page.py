"""Write what was measured into a page of the documentation, so that a new run refreshes it."""

import os
import platform
import re
import timeit
from datetime import UTC, datetime
from pathlib import Path

from tests.bench.relays import ROOT, Trouble

CONTENT = ROOT / "docsite" / "site" / "content"


def replace_section(page: Path, heading: str, text: str) -> None:
    """Replace what stands below a heading, up to the next one of its level or above it. Raises Trouble if none."""
    written = page.read_text()
    level = len(heading.split(" ")[0])
    pattern = re.compile(rf"(?m)(^{re.escape(heading)}$\n)(?:(?!^#{{2,{level}}} ).*\n?)*")
    if not pattern.search(written):
        raise Trouble(f"{page.name} has no heading “{heading}”.")
    replaced = pattern.sub(lambda found: f"{found[1]}\n{text.strip()}\n\n", written, count=1)
    page.write_text(replaced.rstrip("\n") + "\n")


def describe_machine() -> str:
    """Date, processor, memory, the versions that matter, and a yardstick: virtual processors differ by much."""
    model = re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text())
    memory = re.search(r"MemTotal:\s+(\d+)", Path("/proc/meminfo").read_text())
    processor = " ".join(model[1].split()) if model else platform.machine()
    gigabytes = round(int(memory[1]) / 2**20) if memory else 0
    loop = min(timeit.repeat(lambda: sum(range(10**6)), number=1, repeat=9)) * 1000
    return (
        f"{datetime.now(UTC):%-d %B %Y}, {os.cpu_count()} cores of “{processor}”, {gigabytes} GB of memory, "
        f"{platform.system()} {platform.release()}, Python {platform.python_version()}, "
        f"which takes {loop:.0f} ms for `sum(range(10**6))`"
    )
