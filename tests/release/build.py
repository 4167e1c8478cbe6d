"""Makes the files of a release in a folder: the wheel, two npm packages, and the chart."""

import shutil
import sys
import tarfile
from pathlib import Path

import yaml

from tests.processes import ROOT
from tests.release.trial import Built, run

CHART = ROOT / "docsite" / "deploy" / "chart"


def build(output: Path) -> Built:
    """Build everything anew. The widget must be built."""
    shutil.rmtree(output, ignore_errors=True)
    output.mkdir(parents=True)
    wheel = ("-m", "pip", "wheel", ".", "--no-deps", "--no-build-isolation", "--quiet", "--wheel-dir", output)
    run(sys.executable, *wheel, cwd=ROOT)
    for name in ("docusaurus", "react"):
        run("npm", "pack", "--silent", "--pack-destination", output, cwd=ROOT / "static" / "packages" / name)
    facts = yaml.safe_load((CHART / "Chart.yaml").read_text())
    chart = output / f"{facts['name']}-{facts['version']}.tgz"
    with tarfile.open(chart, "w:gz") as archive:
        archive.add(CHART, facts["name"])
    (wheel_file,), (docusaurus,), (react,) = (
        sorted(output.glob(form)) for form in ("*.whl", "docs-service-docusaurus-*.tgz", "docs-service-react-*.tgz")
    )
    return Built(wheel_file, docusaurus, react, chart)
