"""Results of samples are read in a fresh process, whatever type of question they hold an estimate of."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np

import deniable as dn

READING = """
import sys
from pathlib import Path
import deniable as dn
folder = Path(sys.argv[1])
design = dn.DrawnDesign.from_json((folder / "design.json").read_text())
result = dn.SampledEstimate.from_json((folder / "result.json").read_text(), design)
print(result.to_json() == (folder / "result.json").read_text())
"""


def test_a_fresh_process_reads_a_sample_of_drawn_items(tmp_path: Path) -> None:
    devices = {"tea": dn.warner(2), "milk": dn.warner(2)}
    design = dn.drawn_items(devices, each=1)
    responses = dn.respond_all(design, {"tea": ["yes"] * 60, "milk": ["no"] * 60})
    sampling = dn.Sampling(np.ones(60))
    result = dn.estimate(responses, sampling=sampling)
    (tmp_path / "design.json").write_text(design.to_json())
    (tmp_path / "result.json").write_text(result.to_json())
    command = [sys.executable, "-c", READING, str(tmp_path)]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert run.stdout == "True\n"
