"""What people get on the command line and from Python for their mistakes: the files of tests/golden/sessions.

A file is a session. `@ NAME` begins a file of the user's, up to the next one; `$ ...` is what the user runs: a command
of `paddle-layers`, or `python NAME`. What follows is what is printed, and the exit status where it is not 0. Files that
a session does not give are those of `COMMON`. After a change of a message run `python -m tests.cli.test_sessions` and
read the difference.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from paddle_layers.cli.app import commands

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path(__file__).parents[1] / "golden" / "sessions"
SESSIONS = sorted(FOLDER.glob("*.txt"))
COMMON = {
    "net.textproto": """\
name: "flowers"
layer { name: "x" type: "data" data { shape: [4] } }
layer { name: "label" type: "data" data { data_type: INT size: 3 } }
layer { name: "scores" type: "fc" input: "x" fc { size: 3 } }
layer { name: "cost" type: "softmax_with_loss" input: "scores" input: "label" }
""",
    "train.textproto": """\
network: "net.textproto"
epochs: 2
batch_size: 2
optimizer { type: "sgd" learning_rate: 0.1 }
source { type: "csv" csv { file: "table.csv" label: "kind" } }
feed { input: "x" field: "features" }
""",
    "table.csv": "a,b,c,d,kind\n1,2,3,4,0\n2,3,4,5,1\n3,4,5,6,2\n",
}


def parts(text: str) -> tuple[dict[str, str], str]:
    """The files of a session, and its command."""
    session, _, rest = text.partition("\n$ ")
    files = {}
    for part in re.split(r"^@ ", session, flags=re.MULTILINE)[1:]:
        name, _, content = part.partition("\n")
        files[name.strip()] = content.rstrip("\n") + "\n"
    return files, rest.partition("\n")[0]


def printed(text: str) -> str:
    """What the command of a session prints, in a folder with its files."""
    files, command = parts(text)
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        for name, content in {**COMMON, **files}.items():
            (Path(folder) / name).write_text(content)
        os.chdir(folder)
        try:
            output = _python(command.split()[1]) if command.startswith("python ") else _run(command)
        finally:
            os.chdir(before)
    output = re.sub(r"^(compiling kernels|compiled \d+ of) .*\n", "", output, flags=re.MULTILINE)  # where they are new
    output = output.replace(f"{ROOT}/", "").replace(f"{Path(folder).resolve()}/", "").replace(f"{folder}/", "")
    return re.sub(r"this machine has [\d,.]+ GiB", "this machine has 16 GiB", output)


def _run(command: str) -> str:
    if "--plugins" in command:  # what a plugin registers stays in the process
        line = [sys.executable, "-m", "paddle_layers", *command.split()]
        process = subprocess.run(line, capture_output=True, text=True, timeout=600, check=False)
        return _with_status(process.stdout + process.stderr, process.returncode)
    done = CliRunner().invoke(
        commands, prog_name="paddle-layers", args=[word.strip("'") for word in re.findall(r"'[^']*'|\S+", command)]
    )
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return _with_status(done.output, done.exit_code)


def _with_status(output: str, status: int) -> str:
    return output + (f"[exit status {status}]\n" if status else "")


def _python(name: str) -> str:
    """A script, of which a failure shows the last line, as in a notebook."""
    code = compile(Path(name).read_text(), name, "exec")
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        try:
            exec(code, {"__name__": "__main__"})
        except Exception as error:
            print(f"{type(error).__name__}: {error}")
    return output.getvalue()


def session(path: Path) -> str:
    """The session as it is today."""
    text = path.read_text()
    asked = text[: text.index("\n$ ") + 1] if not text.startswith("$ ") else ""
    _, command = parts(text if asked else "\n" + text)
    return f"{asked}$ {command}\n{printed(text if asked else chr(10) + text)}"


@pytest.mark.parametrize("path", SESSIONS, ids=lambda path: path.stem)
def test_users_get(path: Path) -> None:
    assert session(path) == path.read_text()


@pytest.mark.parametrize("path", SESSIONS, ids=lambda path: path.stem)
def test_one_error_and_a_remedy(path: Path) -> None:
    text = path.read_text().rpartition("\n$ ")[2]
    assert max(text.count("error["), text.count("Error: ")) <= 1
    assert "Traceback" not in text


if __name__ == "__main__":
    for each in SESSIONS:
        each.write_text(session(each))
