"""The kernel cache is code: it is the user's alone, and where it can't be used there is a temporary one."""

import errno
import importlib
import os
import re
import stat
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import pytest
from numba.core import config
from numba.core.caching import IndexDataCacheFile

from paddle_layers.cli.app import user_message
from paddle_layers.runtime.devices.cpu import compiler, texts
from paddle_layers.runtime.generate import cache

pytestmark = pytest.mark.skipif(not hasattr(os, "getuid"), reason="files have no owner here")
TEXT = """
from numba import cfunc

@cfunc("int64(int64)", cache=True)
def body(number):
    return number + 1
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A cache of its own, not yet made, and a place for temporary ones."""
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "cache"))
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    monkeypatch.setattr(cache, "_REPLACED", {})
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    forget()
    yield tmp_path / "cache"
    forget()


def forget():
    cache._wanted_folder.cache_clear()
    cache._try.cache_clear()


def load(name="number"):
    """A driver by the way that a device goes."""
    path = cache.driver_path("cpu", name, TEXT)
    sys.modules.pop(f"paddle_layers_driver_cpu_{path.stem}", None)
    assert cache.load_driver(path, TEXT).body.ctypes(1) == 2
    return path


def modes(folder):
    return {stat.S_IMODE(path.stat().st_mode) for path in folder.rglob("*") if path.is_file()}


def write_access(path, mode=0o666):
    path.chmod(path.stat().st_mode | mode)


@pytest.mark.parametrize("umask", [0o000, 0o002, 0o022, 0o077])
def test_folders_and_files_are_the_users_whatever_the_umask(folder, umask):
    before = os.umask(umask)
    try:
        load()
    finally:
        os.umask(before)
    made = [folder, *(path for path in folder.rglob("*") if path.is_dir())]
    assert {stat.S_IMODE(path.stat().st_mode) for path in made} == {0o700}
    assert modes(folder) == {0o600}
    assert {path.suffix for path in folder.rglob("*") if path.is_file()} == {".py", ".pyc", ".nbi", ".nbc", ".sums"}


def test_a_second_load_compiles_nothing(folder):
    load()
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    load()
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before


def test_what_numba_keeps_lies_beside_the_driver(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "shared"))
    assert cache.is_compiled(load())
    assert not (tmp_path / "shared").exists()
    assert str(tmp_path / "shared") == config.CACHE_DIR


def test_what_another_process_compiles_meanwhile_is_no_reason_to_write(folder, monkeypatch):
    """A reader may have a disk that takes no more."""
    path = load()

    def meanwhile(run, gc_paused=cache.gc_paused):
        gc_paused(run)
        (path.parent / "__pycache__" / "another_0.cpython-399.pyc").write_bytes(b"")

    monkeypatch.setattr(cache, "gc_paused", meanwhile)
    monkeypatch.setattr(cache, "keep_file", full)
    load()


def test_what_a_process_that_was_ended_has_made_is_not_damaged(folder):
    """It compiles beside this one, and is ended when nothing is missing any more, listed or not."""
    path = load()
    (result,) = folder.rglob("*.nbc")
    with compiler.compiling_beside([compiler.DriverText(path, TEXT)]):
        result.write_bytes(result.read_bytes() + b"the same in other bits")
    before = result.stat().st_mtime_ns
    load()
    assert result.stat().st_mtime_ns == before


def test_a_driver_that_can_be_written_nowhere_is_named(folder, monkeypatch):
    monkeypatch.setattr(cache, "keep_file", full)
    with (
        pytest.warns(RuntimeWarning, match="using the temporary folder"),
        pytest.raises(OSError, match="No space") as caught,
    ):
        load("nowhere")
    assert caught.value.filename.startswith(str(folder.parent / "temporary"))
    assert user_message(caught.value) == f"{caught.value.filename}: No space left on device"


@pytest.mark.parametrize("place", [".", "cpu", "cpu/__pycache__"])
@pytest.mark.parametrize("mode", [0o020, 0o002])
def test_a_folder_that_others_may_write_is_refused(folder, place, mode):
    load()
    forget()
    write_access(folder / place, mode)
    with pytest.warns(RuntimeWarning, match="other users may write to it; run `find /.* -type d") as told:
        path = load()
    assert len(told) == 1
    assert str(folder / place) in str(told[0].message)
    assert "\n" not in str(told[0].message)
    assert folder not in path.parents
    assert stat.S_IMODE(cache.cache_folder().stat().st_mode) == 0o700


def test_the_command_of_the_warning_mends_folders_and_blesses_no_file(folder):
    load()
    poisoned = next(folder.rglob("*.py"))
    poisoned.write_text("raise SystemExit('poisoned')")
    for path in (folder, *folder.rglob("*")):
        write_access(path, 0o777 if path.is_dir() else 0o666)
    forget()
    with pytest.warns(RuntimeWarning, match="other users may write to it") as told:
        load()
    subprocess.run(str(told[0].message).split("`")[1], shell=True, check=True)
    cache._REPLACED.clear()
    forget()
    assert load() == poisoned
    assert poisoned.read_text() == TEXT


def test_a_folder_of_another_user_is_refused_and_one_of_root_is_not(folder, monkeypatch):
    load()
    forget()
    monkeypatch.setattr(os, "getuid", lambda: folder.stat().st_uid + 1)
    monkeypatch.setattr(cache, "ROOT", folder.stat().st_uid)
    load()
    assert cache.cache_folder() == folder
    forget()
    monkeypatch.setattr(cache, "ROOT", folder.stat().st_uid + 2)
    with pytest.warns(RuntimeWarning, match="it belongs to another user"):
        cache.driver_path("cpu", "number", TEXT)
    assert cache.cache_folder() != folder


def test_a_link_is_what_it_leads_to(folder, tmp_path):
    (tmp_path / "open").mkdir()
    write_access(tmp_path / "open", 0o777)
    folder.symlink_to(tmp_path / "open")
    with pytest.warns(RuntimeWarning, match="other users may write to it"):
        assert folder not in load().parents


def test_without_owners_nothing_is_checked(folder, monkeypatch):
    folder.mkdir()
    write_access(folder, 0o777)
    monkeypatch.delattr(os, "getuid")
    assert folder in load().parents


@pytest.mark.parametrize("suffix", [".py", ".nbi", ".nbc", ".pyc"])
def test_a_file_that_others_may_write_is_made_anew(folder, suffix):
    load()
    (file,) = (path for path in folder.rglob("*") if path.suffix == suffix)
    file.write_bytes(b"raise SystemExit('poisoned')" if suffix == ".py" else b"poisoned")
    write_access(file)
    load()
    assert b"poisoned" not in file.read_bytes()
    assert modes(folder) == {0o600}


def flip(data):
    return bytes([*data[:-9], data[-9] ^ 1, *data[-8:]])


@pytest.mark.parametrize("damage", [lambda data: data[:0], lambda data: data[: len(data) // 2], flip], ids=range(3))
@pytest.mark.parametrize("suffix", [".py", ".nbi", ".nbc", ".pyc", ".sums"])
def test_a_damaged_file_is_made_anew(folder, suffix, damage):
    load()
    (file,) = (path for path in folder.rglob("*") if path.suffix == suffix)
    damaged = damage(file.read_bytes())
    file.write_bytes(damaged)
    load()
    assert file.read_bytes() != damaged
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    load()
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before


def test_a_damaged_result_for_a_card_is_not_read(folder):
    path = cache.driver_path("cuda", "number", TEXT).with_suffix(".ptx")
    for data in (b"text", b"", b"\n", b"line\nline"):
        cache.keep_result(path, data)
        assert cache.kept_result(path) == data
        for damaged in (b"", b"\n", b"\xff\ntext", path.read_bytes()[:-1], path.read_bytes() + b"."):
            path.write_bytes(damaged)
            assert cache.kept_result(path) is None


def test_a_user_without_a_home_folder_has_a_temporary_cache(folder, tmp_path, monkeypatch):
    for variable in (cache.VARIABLE, "XDG_CACHE_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    monkeypatch.chdir(tmp_path)
    with pytest.warns(
        RuntimeWarning, match="cannot use the kernel cache ~/.cache/paddle_layers: the user has no home folder"
    ):
        path = load()
    assert tmp_path / "temporary" in path.parents
    assert [one.name for one in tmp_path.iterdir()] == ["temporary"]


def test_a_result_for_a_card_that_others_may_write_is_not_read(folder):
    path = cache.driver_path("cuda", "number", TEXT).with_suffix(".ptx")
    cache.keep_result(path, b"text")
    assert cache.kept_result(path) == b"text"
    write_access(path)
    assert cache.kept_result(path) is None
    cache.keep_result(path, b"new")
    assert cache.kept_result(path) == b"new"


@pytest.mark.parametrize("place", [".", "cpu", "cpu/__pycache__"])
def test_a_file_in_place_of_a_folder(folder, place):
    (folder / place).parent.mkdir(parents=True, exist_ok=True)
    (folder / place).write_text("mine")
    with pytest.warns(RuntimeWarning, match="cannot use the kernel cache .*: (File exists|Not a directory)") as told:
        load()
    assert len(told) == 1
    assert (folder / place).read_text() == "mine"


def full(*_, **__):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_full_disk_found_by_a_driver(folder, monkeypatch):
    keep = cache.keep_file
    monkeypatch.setattr(cache, "keep_file", lambda path, data: (full if folder in path.parents else keep)(path, data))
    path = cache.driver_path("cuda", "number", TEXT)
    with pytest.warns(RuntimeWarning, match="No space left on device; using the temporary folder") as told:
        load()
    assert len(told) == 1
    cache.keep_result(path, b"a second failure tells nothing")


def test_a_full_disk_found_by_numba(folder, monkeypatch):
    save = IndexDataCacheFile._save_data
    here = lambda self: folder in Path(self._cache_path).parents  # noqa: E731
    monkeypatch.setattr(
        IndexDataCacheFile, "_save_data", lambda self, *args: full() if here(self) else save(self, *args)
    )
    first, second = (cache.driver_path("cpu", f"number{number}", TEXT) for number in (1, 2))
    with pytest.warns(RuntimeWarning, match="No space left on device"):
        cache.load_driver(first, TEXT)
    cache.load_driver(second, TEXT)  # a second warning would be an error
    assert len(list(cache.cache_folder().rglob("*.nbi"))) == 2


def test_a_library_that_is_missing_is_no_fault_of_the_cache(folder):
    with warnings.catch_warnings(), pytest.raises(OSError, match="none_such"):
        cache.load_driver(folder / "cpu" / "library.py", "import ctypes\nctypes.CDLL('none_such')\n")


def test_nothing_is_kept_beside_the_modules_of_the_package(tmp_path):
    """What numba leaves there outlives an uninstall, and hides an editable install."""
    code = (
        "import paddle_layers as pl, numpy as np\n"
        'net = pl.Net(pl.loads(\'layer { name: "x" type: "data" data { shape: 3 } } \'\n'
        '    \'layer { name: "y" type: "relu" input: "x" }\'))\n'
        "net.forward({'x': np.ones((1, 3), np.float32)})\n"
        "from paddle_layers.runtime.devices.cpu import native, workers\n"
        "from paddle_layers.runtime.devices.cuda import driver\n"
        "print(*(f.stats.cache_path for f in (workers.run_launches, native.run_backwards, driver.queue_kernels)))\n"
    )
    environment = {**os.environ, "PADDLE_LAYERS_CACHE": str(tmp_path / "cache")}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    places = done.stdout.split()
    assert len(places) == 3
    assert all(Path(place).is_relative_to(tmp_path / "cache" / "library") for place in places), places
    assert list((tmp_path / "cache" / "library").rglob("workers.run_launches*.nbc"))


def test_an_edit_of_what_every_driver_imports_makes_other_drivers(monkeypatch):
    before, read = texts.cpu_prelude("float32"), Path.read_bytes
    modules = re.findall(r"^from (paddle_layers[\w.]+) import", "\n".join(before), re.MULTILINE)
    assert modules
    for module in modules:
        edited = Path(importlib.import_module(module).__file__)
        with monkeypatch.context() as patch:
            patch.setattr(texts, "_imported_digest", texts._imported_digest.__wrapped__)
            patch.setattr(Path, "read_bytes", lambda path, edited=edited: read(path) + b"\n" * (path == edited))
            assert texts.cpu_prelude("float32") != before, module
