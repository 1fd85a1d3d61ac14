"""`python .ci/versions.py [--packages] FOLDER`: a few tests with the oldest and newest that pyproject.toml promises.

Environments are made in FOLDER: the oldest Python with the lowest version of every dependency, and the newest Python
that this machine has with the newest versions. With `--packages`, they are made of the wheel and of the sdist with
every Python, and the training of `paddle-layers new` runs in them. An interpreter that is not found is named. Exit
status 1 when a test or a training fails.
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
    """Check both ends, or the packages."""
    folder = Path(sys.argv[-1]).resolve()
    promised = [found[1] for text in PROJECT["classifiers"] if (found := re.search(r":: (3\.\d+)$", text))]
    if "--packages" in sys.argv:
        return 0 if check_packages(promised, folder) else 1
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


def check_packages(pythons: Iterable[str], folder: Path) -> bool:
    """Install the wheel and the sdist with every Python, and train; whether nothing failed."""
    subprocess.run([sys.executable, "-m", "build", "--outdir", folder / "dist", ROOT], check=True, capture_output=True)
    results = []
    for version in pythons:
        if (python := find_python(version)) is None:
            print(f"NOT CHECKED: there is no Python {version} on this machine", flush=True)
            continue
        for package in sorted((folder / "dist").iterdir()):
            results.append(trains(python, package, folder / f"{version}{package.suffix}"))
            print(f"Python {version}: {package.name}: {'trains' if results[-1] else 'FAILED'}", flush=True)
    return all(results)


def trains(python: str, package: Path, folder: Path) -> bool:
    """Whether a fresh environment with this package alone trains the network that `paddle-layers new` writes."""
    subprocess.run([python, "-m", "venv", folder], check=True)
    program = folder / "bin" / "paddle-layers"
    commands = (
        [folder / "bin" / "python", "-m", "pip", "install", "--quiet", package],
        [program, "new", "first"],
        [program, "train", "first/train.textproto"],
    )
    return all(subprocess.run(command, cwd=folder, check=False).returncode == 0 for command in commands)


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
