"""Installed plugins: found by their metadata, loaded when needed; what fails harms nothing but itself."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

ROOT = Path(__file__).resolve().parents[2]

LAYER = '''
import paddle_layers as pl

@pl.layer("{name}")
class Twice:
    """Every value, doubled."""
    x = pl.Input("...", "values")
    y = pl.Output("...", "same shape")
    examples = (pl.Example(x="3"),)

@pl.each(Twice.y)
def y(i, x):
    return 2.0 * x[i]

@pl.gradient(Twice.x)
def dx(i, dy):
    return 2.0 * dy[i]
'''
NETWORK = 'layer {{ name: "x" type: "data" data {{ shape: 3 }} }}\nlayer {{ name: "y" type: "{0}" input: "x" }}\n'


class Site:
    """A folder of packages with metadata, as pip leaves them, and processes that see it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def install(
        self,
        prefix: str,
        text: str,
        *,
        distribution: str = "",
        package: str = "",
        version: str = "1.2",
        requires: str = "",
        more: dict[str, str] | None = None,
    ) -> Path:
        """Put a plugin there; gives its package's folder."""
        distribution = distribution or f"{prefix}-layers"
        package = package or f"{prefix}_layers"
        home = self.folder / package
        home.mkdir(parents=True)
        (home / "__init__.py").write_text(text, encoding="utf-8")
        for name, content in (more or {}).items():
            (home / name).write_text(content, encoding="utf-8")
        info = self.folder / f"{distribution.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        metadata = f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n"
        metadata += f"Requires-Dist: {requires}\n" if requires else ""
        (info / "METADATA").write_text(metadata, encoding="utf-8")
        (info / "entry_points.txt").write_text(f"[paddle_layers.plugins]\n{prefix} = {package}\n", encoding="utf-8")
        return home

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(self.folder), str(ROOT)])}
        return subprocess.run(
            [sys.executable, *command],
            capture_output=True,
            text=True,
            env=environment,
            cwd=self.folder,
            timeout=600,
            check=False,
        )

    def python(self, text: str) -> str:
        """What a program prints; it must not fail."""
        done = self.run("-c", "import paddle_layers as pl\n" + dedent(text))
        assert done.returncode == 0, done.stderr
        return done.stdout

    def cli(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        done = self.run("-m", "paddle_layers", *arguments)
        assert "Traceback" not in done.stderr, done.stderr
        return done

    def validate(self, layer: str) -> subprocess.CompletedProcess[str]:
        (self.folder / "net.textproto").write_text(NETWORK.format(layer), encoding="utf-8")
        return self.cli("validate", "net.textproto")


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


# ---- loading


def test_a_plugin_is_loaded_when_one_of_its_names_is_needed(site: Site) -> None:
    site.install("ours", LAYER.format(name="ours_twice"))
    site.install("others", LAYER.format(name="others_twice"))
    text = """
        import sys
        seen = lambda: [name for name in ("ours_layers", "others_layers") if name in sys.modules]
        pl.registry["relu"]
        print(seen())
        pl.registry["ours_twice"]
        print(seen())
        assert "others_twice" in list(pl.registry)
        print(seen())
    """
    assert site.python(text).splitlines() == ["[]", "['ours_layers']", "['ours_layers', 'others_layers']"]


def test_a_plugin_is_not_loaded_by_import_nor_by_a_network_without_it(site: Site) -> None:
    site.install("ours", "raise AssertionError('imported')")
    done = site.validate("relu")
    assert (done.returncode, done.stderr) == (0, "")


def test_the_list(site: Site) -> None:
    text = LAYER.format(name="ours_twice") + LAYER.format(name="ours_again").replace("Twice", "Again")
    schedule = '''
@pl.schedule("ours_rate")
class Rate:
    """The same rate."""
    def rate(self, base: float, step: int, total: int) -> float:
        return base
'''
    site.install("ours", text + schedule)
    done = site.cli("plugins")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "PREFIX  DISTRIBUTION     MODULE       STATE",
        "ours    ours-layers 1.2  ours_layers  loaded",
        "  layer: ours_again, ours_twice",
        "  schedule: ours_rate",
    ]
    assert done.stderr == ""


@pytest.mark.parametrize("module", ["../evil", "", "no module:x", "a..b", "/etc/passwd", "a-b", "1x"])
def test_an_entry_point_that_is_no_module(site: Site, module: str) -> None:
    home = site.install("ours", LAYER.format(name="ours_twice"))
    site.install("evil", "raise AssertionError('imported')")
    (home.parent / "evil_layers-1.2.dist-info" / "entry_points.txt").write_text(
        f"[paddle_layers.plugins]\nevil = {module}\n", encoding="utf-8"
    )
    done = site.cli("plugins")
    assert done.returncode == 1
    assert "layer: ours_twice" in done.stdout
    assert f"plugin `evil` (evil-layers 1.2) was refused: its entry point `{module}` is not a module" in done.stderr
    assert "Traceback" not in done.stderr
    assert site.validate("ours_twice").returncode == 0


TWICE = {
    "classes of two names": ("Twice", "Again"),
    "classes of one name": ("Twice", "Twice"),
}


@pytest.mark.parametrize("names", TWICE.values(), ids=TWICE)
@pytest.mark.parametrize("indent", [False, True], ids=["plain", "in a condition"])
def test_a_file_with_one_name_twice(site: Site, names: tuple[str, str], indent: bool) -> None:
    text = LAYER.format(name="ours_twice")
    text = "\n".join(text.replace("Twice", name) for name in names)
    if indent:
        text = "if True:\n" + "".join(f"    {line}\n" for line in text.splitlines())
    file = site.folder / "twice.py"
    file.write_text(text, encoding="utf-8")
    done = site.cli("layers", "ours_twice", "--plugins", str(file))
    assert done.returncode == 1
    places = re.findall(r"twice\.py:(\d+)", done.stderr)
    assert len({*places}) == 2, done.stderr
    assert "layer `ours_twice`: the name is already registered at" in done.stderr


def test_no_plugin(site: Site) -> None:
    done = site.cli("plugins")
    assert done.returncode == 0
    assert done.stdout.startswith("no plugins installed")


def test_a_plugin_that_imports_another_does_not_own_its_layers(site: Site) -> None:
    site.install("ours", LAYER.format(name="ours_twice"))
    site.install("above", "import ours_layers\n" + LAYER.format(name="above_twice"))
    assert site.python(STATES).splitlines() == [
        "above: loaded {'layer': ('above_twice',)}",
        "ours: loaded {'layer': ('ours_twice',)}",
    ]


def test_a_failing_plugin_takes_no_other_one_along(site: Site) -> None:
    site.install("ours", LAYER.format(name="ours_twice"))
    site.install("above", "import ours_layers\n" + LAYER.format(name="above_twice") + "\nraise OSError('no')")
    states = site.python(STATES + "    print('above_twice' in pl.registry)")
    assert states.splitlines() == ["above: failed {}", "ours: loaded {'layer': ('ours_twice',)}", "False"]
    assert site.validate("ours_twice").returncode == 0


STATES = """
    import warnings
    from paddle_layers.define import installed_plugins, load_entry_points
    warnings.simplefilter("ignore")
    load_entry_points()
    for plugin in installed_plugins():
        print(f"{plugin.prefix}: {plugin.state} {plugin.names}")
"""


def test_two_plugins_of_one_package_share_its_layers_out_by_prefix(site: Site) -> None:
    two = LAYER.format(name="ours_twice") + LAYER.format(name="more_twice").replace("Twice", "More")
    site.install("ours", two)
    info = next(site.folder.glob("*.dist-info"))
    (info / "entry_points.txt").write_text("[paddle_layers.plugins]\nours = ours_layers\nmore = ours_layers\n")
    assert site.python(STATES).splitlines() == [
        "more: loaded {'layer': ('more_twice',)}",
        "ours: loaded {'layer': ('ours_twice',)}",
    ]


# ---- what may be wrong

GOOD = LAYER.format(name="good_twice")
FAULTS = {
    "import": ("\nimport no_such_module\n", "failed", r"{home}/__init__.py:2: ModuleNotFoundError: No module named"),
    "value": ("\n\nx = 1 / 0\n", "failed", r"{home}/__init__.py:3: ZeroDivisionError: division by zero"),
    "syntax": ("def f(:\n", "failed", r"{home}/__init__.py:1: SyntaxError: invalid syntax"),
    "an exception of its own": (
        "class Odd(BaseException):\n    pass\n\nraise Odd('hm')",
        "failed",
        r"{home}/__init__.py:4: Odd: hm",
    ),
    "limit": (
        "import sys\n\nsys.setrecursionlimit(70)\nx = 1 / 0",
        "failed",
        r"{home}/__init__.py:4: ZeroDivisionError: division by zero",
    ),
    "exit": ("raise SystemExit(3)", "failed", r"{home}/__init__.py:1: SystemExit: 3"),
    "definition": (
        LAYER.format(name="bad_twice") + "\n@pl.each(Twice.y)\ndef z(i, w):\n    return 1.0\n",
        "refused",
        r"{home}/__init__.py:19: z: unknown argument `w`",
    ),
    "wrong prefix": (
        LAYER.format(name="twice"),
        "refused",
        r"{home}/__init__.py:5: layer `twice`: names of plugin `bad` must start with its prefix; rename it to "
        "`bad_twice`",
    ),
    "wrong prefix of another kind": (
        'import paddle_layers as pl\n\n@pl.optimizer("puma")\nclass Puma:\n    """A puma."""\n',
        "refused",
        r"{home}/__init__.py:4: optimizer `puma`: names of plugin `bad` must start with its prefix; rename it to "
        "`bad_puma`",
    ),
    "a name that is taken": (
        LAYER.format(name="relu"),
        "refused",
        r"{home}/__init__.py:5: layer `relu`: "
        "the name is already registered at {root}/paddle_layers/layers/elementwise/activations.py:",
    ),
    "a name of its own, twice": (
        LAYER.format(name="bad_twice") + LAYER.format(name="bad_twice").replace("Twice", "Other"),
        "refused",
        r"{home}/__init__.py:22: layer `bad_twice`: the name is already registered at {home}/__init__.py:5",
    ),
    "a layer that is not complete": (
        LAYER.format(name="bad_twice").partition("@pl.each")[0],
        "refused",
        r"{home}/__init__.py:5: layer `bad_twice`: no function computes `y`",
    ),
}


def test_broken_plugins_harm_nothing_but_themselves(site: Site) -> None:
    site.install("good", GOOD)
    told, listed = [], [["good", "good-layers", "1.2", "good_layers", "loaded"], ["layer:", "good_twice"]]
    for number, (text, state, reason) in enumerate(FAULTS.values()):
        name = f"bad{chr(ord('a') + number)}"
        home = site.install(name, text.replace("bad_", f"{name}_"))
        verb = "failed" if state == "failed" else "was refused"
        why = re.sub(r"\bbad\b|bad(?=_)", name, reason).format(home=home, root=ROOT)
        told.append((f"plugin `{name}` ({name}-layers 1.2) {verb}: {why}", f"; repair or uninstall `{name}-layers`"))
        listed.insert(number, [name, f"{name}-layers", "1.2", f"{name}_layers", state])
    done = site.cli("plugins")
    assert done.returncode == 1
    for line, (start, end) in zip(done.stderr.splitlines(), told, strict=True):
        assert line.startswith(start)
        assert line.endswith(end)
    assert [line.split() for line in done.stdout.splitlines()[1:]] == listed
    assert site.validate("good_twice").stderr == ""
    layers = site.cli("layers")
    assert layers.returncode == 0
    assert layers.stderr.count("warning: ") == len(FAULTS)
    assert "good_twice" in layers.stdout
    assert "bad" not in layers.stdout


def test_what_a_plugin_prints_or_sets_is_no_part_of_a_result(site: Site) -> None:
    site.install("loud", LAYER.format(name="loud_twice") + "\nimport sys\nprint('hello')\nsys.setrecursionlimit(90)\n")
    done = site.validate("loud_twice")
    assert (done.returncode, done.stderr) == (0, "hello\n")
    assert "hello" not in done.stdout
    assert site.validate("loud_ttwice").stderr.startswith("hello\n")


def test_a_config_that_needs_the_broken_plugin_is_told_so(site: Site) -> None:
    home = site.install("bad", "x = 1 / 0\n" + LAYER.format(name="bad_twice"))
    done = site.validate("bad_twice")
    assert done.returncode == 1
    assert "net.textproto:2:25: error[E111]: unknown layer type `bad_twice`" in done.stderr
    help_ = "help: the plugin `bad`, which may provide it, failed: "
    assert f"{help_}{home}/__init__.py:1: ZeroDivisionError: division by zero; repair or uninstall" in done.stderr


def test_another_unknown_name_is_not_the_broken_plugins_fault(site: Site) -> None:
    site.install("bad", "x = 1 / 0\n")
    assert "= help: did you mean `relu`?" in site.validate("rellu").stderr


def test_two_distributions_of_one_prefix(site: Site) -> None:
    site.install("ours", LAYER.format(name="ours_twice"), distribution="b-layers", package="b")
    site.install("ours", LAYER.format(name="ours_other"), distribution="a-layers", package="a", version="3.0")
    done = site.cli("plugins")
    assert done.returncode == 1
    assert done.stdout.splitlines()[1:] == [
        "ours    a-layers 3.0  a       loaded",
        "  layer: ours_other",
        "ours    b-layers 1.2  b       refused",
    ]
    message = "its prefix is used by a-layers 3.0 and b-layers 1.2; uninstall one of them"
    assert done.stderr == f"plugin `ours` (b-layers 1.2) was refused: {message}\n"


@pytest.mark.parametrize(
    ("requires", "fits"),
    [
        ("paddle-layers>=0.5", False),
        ("Paddle_Layers (>=0.5)", False),
        ("paddle-layers>=0.1,<0.2", True),
        ("paddle-layers", True),
        ("paddle-layers>=7; extra == 'test'", True),
        ("paddle-layers>=7; python_version < '3'", True),
        ("paddle-layers-other>=7", True),
    ],
)
def test_versions(site: Site, requires: str, fits: bool) -> None:
    site.install("ours", LAYER.format(name="ours_twice") + "print('imported')", requires=requires)
    done = site.cli("plugins")
    assert done.returncode == int(not fits)
    assert "imported" not in done.stdout
    needs = "it requires paddle-layers>=0.5, but 0.1.0 is installed; upgrade one of them"
    assert done.stderr == ("imported\n" if fits else f"plugin `ours` (ours-layers 1.2) was refused: {needs}\n")


def test_a_requirement_that_cannot_be_read(site: Site) -> None:
    site.install("ours", LAYER.format(name="ours_twice"), requires="paddle-layers is what I need")
    assert "its requirement `paddle-layers is what I need` is invalid" in site.cli("plugins").stderr


def test_a_prefix_that_is_no_name(site: Site) -> None:
    site.install("ours-layers", LAYER.format(name="ours_twice"), distribution="ours", package="ours")
    assert "the name of its entry point, the prefix of its layers" in site.cli("plugins").stderr


def test_what_a_plugin_says_is_no_command_to_the_terminal(site: Site) -> None:
    site.install("bad", r"raise ValueError('\x1b[2J\x07 one\n two' + 'x' * 9999)")
    done = site.cli("plugins")
    assert "\x1b" not in done.stderr
    assert "\x07" not in done.stderr
    assert done.stderr.count("\n") == 1
    assert len(done.stderr) < 600


def test_damaged_metadata_of_a_package_hide_no_built_in_layer(site: Site) -> None:
    site.install("ours", LAYER.format(name="ours_twice"))
    info = next(site.folder.glob("*.dist-info"))
    (info / "entry_points.txt").write_text("[paddle_layers.plugins]\nthis is none\n")
    done = site.cli("layers")
    assert done.returncode == 0
    assert "relu" in done.stdout
    assert "warning: cannot list plugins, because an installed package is damaged: " in done.stderr


# ---- tuned kernels

KERNELS = """
from numba import njit
import paddle_layers as pl

@pl.tuned("ours_twice", "y", items=lambda: 1, work=lambda: 1)
@njit
def twice(first, last, y, x):
    y[:] = {factor} * x
"""
RUN = """
    import sys, numpy as np
    layers = 'layer { name: "x" type: "data" data { shape: 3 } } layer { name: "y" type: "ours_twice" input: "x" }'
    net = pl.Net(pl.loads(layers))
    print(net.forward({"x": np.ones((2, 3), np.float32)})["y"].sum(), "ours_layers.kernels" in sys.modules)
    net.close()
"""


def test_a_plugin_is_light_and_its_kernels_are_imported_when_it_runs(site: Site) -> None:
    site.install("ours", LAYER.format(name="ours_twice"), more={"kernels.py": KERNELS.format(factor=3)})
    text = "import sys; pl.registry['ours_twice'].definition; print('numba' in sys.modules)"
    assert site.python(text) == "False\n"
    assert site.python(RUN) == "18.0 True\n"


@pytest.mark.slow
def test_an_edit_in_any_file_of_the_package_is_noticed(site: Site) -> None:
    kernels = KERNELS.format(factor="factor()").replace("import paddle", "from .numbers import factor\nimport paddle")
    numbers = "from numba import njit\n\n@njit\ndef factor():\n    return {}\n"
    more = {"kernels.py": kernels, "numbers.py": numbers.format(3)}
    home = site.install("ours", LAYER.format(name="ours_twice"), more=more)
    assert site.python(RUN) == "18.0 True\n"
    (home / "numbers.py").write_text(numbers.format(50))
    assert site.python(RUN) == "300.0 True\n"


WRONG_KERNELS = {
    "import": ("x = 1 / 0\n", r"kernels.py:1: ZeroDivisionError: division by zero"),
    "another layer": (KERNELS.replace("ours_twice", "relu"), "tuned kernel of `relu`, which is not a layer of this"),
    "no function": (KERNELS.replace('"y"', '"yy"'), "tuned kernel of `yy`, which is not a function of layer"),
}


@pytest.mark.parametrize(
    "fault", [pytest.param(fault, marks=() if fault == "import" else pytest.mark.slow) for fault in WRONG_KERNELS]
)
def test_kernels_that_fail_leave_the_point_functions(site: Site, fault: str) -> None:
    text, reason = WRONG_KERNELS[fault]
    site.install("ours", LAYER.format(name="ours_twice"), more={"kernels.py": text.format(factor=3)})
    done = site.run("-c", "import paddle_layers as pl\n" + dedent(RUN))
    assert done.stdout.split()[0] == "12.0", done.stderr
    assert done.stderr.count("PluginWarning: the kernels of plugin `ours` (ours-layers 1.2) failed: ") == 1
    assert reason in done.stderr
    checked = site.run("-c", "import paddle_layers as pl\npl.testing.check_plugin('ours')")
    assert "AssertionError: the kernels of plugin `ours` (ours-layers 1.2) failed: " in checked.stderr
    relu = RUN.replace("ours_twice", "relu")
    assert site.python(relu).split()[0] == "6.0"


def test_a_tuned_kernel_in_the_wrong_module(site: Site) -> None:
    (site.folder / "file.py").write_text(LAYER.format(name="ours_twice") + KERNELS.format(factor=3))
    done = site.cli("layers", "--plugins", "file.py")
    assert done.returncode == 1
    assert "tuned kernels must be in the module `kernels` of a plugin's package" in done.stderr


# ---- the kit


@pytest.mark.slow
def test_check_plugin_finds_a_wrong_kernel(site: Site) -> None:
    site.install("ours", LAYER.format(name="ours_twice"), more={"kernels.py": KERNELS.format(factor=3)})
    done = site.run("-c", "import paddle_layers as pl\npl.testing.check_plugin('ours')")
    assert "ours_twice: tuned kernels: `out0` differs by " in done.stderr


@pytest.mark.slow
def test_check_plugin_passes(site: Site) -> None:
    site.install("ours", LAYER.format(name="ours_twice"), more={"kernels.py": KERNELS.format(factor=2)})
    site.install("bad", "x = 1 / 0")
    text = "for report in pl.testing.check_plugin('ours'): print(report.layer, report.checked['tuned kernels'] > 0)"
    assert site.python(text) == "ours_twice True\n"


@pytest.mark.parametrize(
    ("prefix", "message"),
    [
        ("missing", "plugin `missing` is not installed (installed: `bad`); run `pip install -e .`"),
        ("bad", "plugin `bad` (bad-layers 1.2) failed: "),
    ],
)
def test_check_plugin_never_passes_over_nothing(site: Site, prefix: str, message: str) -> None:
    site.install("bad", "x = 1 / 0")
    done = site.run("-c", f"import paddle_layers as pl\npl.testing.check_plugin('{prefix}')")
    assert f"AssertionError: {message}" in done.stderr
