"""The package without what only POSIX systems have: file locks, forks, descriptors of folders, positioned reads.

Nor has it what only pages need.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "docs" / "examples" / "digits" / "first.textproto"
PROGRAM = """
import os, sys

for module in ("fcntl", "resource", "pwd", "grp", "termios", "jinja2", "markdown_it"):
    sys.modules[module] = None
for name in ("fork", "register_at_fork", "pread", "sched_getaffinity", "sched_yield", "sysconf", "getuid", "geteuid"):
    delattr(os, name)
os.supports_dir_fd = os.supports_fd = os.supports_follow_symlinks = frozenset()

from paddle_layers.runtime.devices.cpu import pool
pool.HAS_WORKERS = False

import paddle_layers as pl

report = pl.train(sys.argv[1])
print(report.folder, pl.evaluate(sys.argv[1]).results)
"""


@pytest.mark.slow
def test_the_first_example_trains_without_posix(tmp_path):
    text = EXAMPLE.read_text(encoding="utf-8").replace("epochs: 10", "epochs: 1")
    (tmp_path / "first.textproto").write_text(text, encoding="utf-8")
    command = [sys.executable, "-c", PROGRAM, "first.textproto"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr
    assert "accuracy" in done.stdout
