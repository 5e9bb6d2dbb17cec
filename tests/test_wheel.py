"""What a wheel holds, and that it works from there; `make wheel-check` installs it as well."""

from __future__ import annotations

import importlib.metadata
import os
import re
import shlex
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from test_strangers_path import Stranger, walk_the_path

ROOT = Path(__file__).parents[1]

# Neither this clone, which the hooks of `site` would put first, nor PyTorch.
_ALONE = "import sys; sys.modules['torch'] = None; from hstar.cli import main; main()"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this clone, linked from what was compiled for it already."""
    folder = tmp_path_factory.mktemp("wheel")
    options = ["--quiet", "--no-build-isolation", "--no-deps", "--no-index", "--wheel-dir", str(folder)]
    path = f"{sysconfig.get_path('scripts')}{os.pathsep}{os.environ['PATH']}"  # cmake and ninja
    command = [sys.executable, "-m", "pip", "wheel", *options, str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PATH": path})
    assert done.returncode == 0, done.stderr
    (found,) = folder.glob("*.whl")
    return found


@pytest.mark.slow
def test_suites_examples_and_data_are_in_the_wheel(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    for folder, source in (("suites", "suites"), ("examples", "examples"), ("data", "src/hstar/data")):
        files = [path.name for path in (ROOT / source).iterdir() if path.is_file()]
        assert files and {f"hstar/{folder}/{name}" for name in files} <= names
    assert any(name.startswith("hstar/_core.") and name.endswith(".so") for name in names)
    assert {name.split("/")[0].split("-")[0] for name in names} == {"hstar"}  # and its metadata


@pytest.mark.slow
def test_images_install_the_wheel_that_make_writes(wheel: Path, tmp_path: Path) -> None:
    """What the Dockerfile and the Apptainer definition say, without a container."""
    api = re.search(r'py-api = "cp3(\d+)"', (ROOT / "pyproject.toml").read_text())
    extras = set(importlib.metadata.metadata("hstar").get_all("Provides-Extra") or ())
    for name, folder in (("Dockerfile", "/tmp/hstar"), ("apptainer.def", "/opt/hstar/dist")):
        text, target = (ROOT / name).read_text(), tmp_path / name
        first, second = re.findall(r"pip (install .+?)(?: &&|\n)", text)
        words = [*shlex.split(first.replace(folder, str(wheel.parent))), "--target", str(target)]
        subprocess.run([sys.executable, "-m", "pip", *words], check=True)
        assert (target / "hstar" / "__init__.py").is_file()
        assert "/constraints.txt " in second and set(re.findall(r"EXTRAS=(\w+)\n", text)) <= extras
        python = re.search(r"python:3\.(\d+)-slim", text)
        assert api is not None and python is not None and int(api[1]) <= int(python[1])


@pytest.mark.slow
def test_it_works_without_the_clone(wheel: Path, tmp_path: Path) -> None:
    place = tmp_path / "installed"
    zipfile.ZipFile(wheel).extractall(place)
    paths = [str(place), sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"}

    def run(*words: str) -> str:
        command = [sys.executable, "-S", "-c", _ALONE, *words]
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment)
        assert done.returncode == 0, done.stderr
        return done.stdout + done.stderr

    shown = subprocess.run(
        [sys.executable, "-S", "-c", "import hstar; print(hstar.__file__)"],
        capture_output=True,
        text=True,
        env=environment,
    )
    assert Path(shown.stdout.strip()) == place / "hstar" / "__init__.py"
    assert "learned" in run("demo", "--blocks", "4", "--starts", "2")
    run("train", "wl", "gripper", "-o", "m.hstar", "--iterations", "1")
    run("example", "gripper")
    run("example", "programs")
    assert (tmp_path / "programs" / "own_space.py").is_file()
    assert "; cost = " in run("solve", "gripper/test/p01.pddl", "--heuristic", "m.hstar")
    assert " jobs (" in run("bench", "demo", "-o", "run", "--profile", "quick", "--dry-run")


@pytest.fixture
def installed(wheel: Path, tmp_path: Path) -> str:
    """Python of an environment with the wheel and all that is installed here but hstar and PyTorch."""
    place = tmp_path / "environment"
    venv.create(place, with_pip=False)
    python = place / "bin" / "python"
    ask = "import sysconfig; print(sysconfig.get_path('purelib'))"
    packages = Path(subprocess.check_output([python, "-c", ask], text=True).strip())
    for source in {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}:
        for entry in Path(source).iterdir():
            left_out = entry.name.startswith(("torch", "hstar", "_hstar")) or entry.suffix == ".pth"
            if not left_out and not (packages / entry.name).exists():
                (packages / entry.name).symlink_to(entry)
    zipfile.ZipFile(wheel).extractall(packages)
    return str(python)


@pytest.mark.slow
@pytest.mark.xdist_group("browser")
def test_the_path_of_a_stranger_from_the_wheel(installed: str, tmp_path: Path) -> None:
    """That of test_strangers_path.py, without this clone and without PyTorch."""
    folder = tmp_path / "folder"
    folder.mkdir()
    stranger = Stranger(folder, installed)
    assert str(tmp_path) in stranger.run("-c", "import hstar; print(hstar.__file__)")
    assert "None" in stranger.run("-c", "import importlib.util as u; print(u.find_spec('torch'))")
    stranger.hstar("demo --blocks 4 --starts 2")
    walk_the_path(stranger)
