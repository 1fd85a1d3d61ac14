"""`python .ci/versions.py FOLDER`: a few tests with the oldest and the newest of what pyproject.toml promises.

Environments are made in FOLDER: the oldest Python with the lowest version of every dependency, and the newest Python
that this machine has with the newest versions. An interpreter that is not found is named. Exit status 1 when a
test fails.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
SELECTION = (
    "config/test_reader.py",
    "config/test_binary.py",
    "define/test_registry.py",
    "runtime/test_net.py",
    "runtime/test_threads.py",
    "training/test_folders.py",
)
"""Tests that compute, save, and start processes which find compiled kernels in the cache."""
HARNESS = ("pytest", "hypothesis")
"""What the tests themselves need, the newest: users have no need of them."""


def main() -> int:
    """Check both ends."""
    folder = Path(sys.argv[1])
    promised = [found[1] for text in PROJECT["classifiers"] if (found := re.search(r":: (3\.\d+)$", text))]
    lowest = [re.sub(r">=([\w.]+).*", r"==\1", text) for text in PROJECT["dependencies"]]
    newest = list(reversed(promised[-2:]))
    results = [
        check("the lowest versions", promised[:1], folder / "lowest", lowest),
        check("the newest versions", newest, folder / "newest", PROJECT["dependencies"]),
    ]
    return 0 if all(results) else 1


def check(what: str, pythons: Iterable[str], folder: Path, requirements: Iterable[str]) -> bool:
    """Run the selection with the first of these versions of Python that is here; whether nothing failed."""
    python = next((found for version in pythons if (found := find_python(version))), None)
    if python is None:
        print(f"NOT CHECKED: {what}: there is no Python {' or '.join(pythons)} on this machine", flush=True)
        return True
    subprocess.run([python, "-m", "venv", folder], check=True)
    mine = folder / "bin" / "python"
    install = [mine, "-m", "pip", "install", "--quiet"]
    subprocess.run([*install, *requirements, *HARNESS], check=True)
    subprocess.run([*install, "--no-deps", "--editable", ROOT], check=True)
    print(f"{what}:", flush=True)
    subprocess.run([mine, "-m", "pip", "list", "--format", "freeze"], check=True)
    command = [mine, "-m", "pytest", "--override-ini", "addopts=", "-q", "-m", "not slow"]
    tests = [f"tests/{name}" for name in SELECTION]
    return subprocess.run([*command, *tests], cwd=ROOT, check=False).returncode == 0


def find_python(version: str) -> str | None:
    """An interpreter of this version, by its name or among those of pyenv."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    candidates = [shutil.which(f"python{version}"), *sorted(pyenv.glob(f"{version}.*/bin/python"))]
    return next((str(found) for found in candidates if found and runs(str(found), version)), None)


def runs(python: str, version: str) -> bool:
    """Whether it is what it is called; the names that pyenv puts on the path may lead nowhere."""
    print_version = "import sys, venv; print('%d.%d' % sys.version_info[:2])"
    done = subprocess.run([python, "-c", print_version], capture_output=True, text=True, check=False)
    return done.stdout.strip() == version


if __name__ == "__main__":
    sys.exit(main())
