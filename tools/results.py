"""Keeps the rows behind the results, and fills the pages of results from them.

    python tools/results.py [FILE ...]       fills RESULTS.md and docs/results/*.md, or the named files
    python tools/results.py --keep RUN ...   packs the rows of finished runs into results/, for the former
    python tools/results.py --pause RUN      packs a run that is not finished into results/paused/
    python tools/results.py --resume RUN     unpacks it there, so that the command that made it goes on

A block of a page is what a command prints, one of hstar or a script of its own:

    <!-- hstar report runs/preimage --format markdown -->
    ...
    <!-- end -->

    <!-- python benchmarks/network.py --print runs/network.jsonl --table rates -->
    ...
    <!-- end -->

Each command is run in the current folder (by `make results` the project's root) with this interpreter, and
its output put between the two lines; headings go down one level. A run that is not on this machine is
unpacked from results/ first. A block whose run is in neither place stays as it is, and is named. A file is
written only if every command of it succeeds.

A run is a folder of `hstar bench` or a file of measurements (`--out`). results/ has its rows, not its models
and logs: `NAME.sqlite.xz` or `NAME.jsonl.xz`. Only finished runs of committed code are kept. A paused run has
its models and data sets, too, so that it can go on on another machine; no page is filled from it.
"""

from __future__ import annotations

import json
import lzma
import re
import shlex
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

_START = re.compile(r"^<!-- ((?:hstar|python) [^\n]*) -->\n", re.MULTILINE)
_BLOCK = re.compile(_START.pattern + r"(.*?)^<!-- end -->$", re.DOTALL | re.MULTILINE)
KEPT = Path("results")
PAUSED = KEPT / "paused"
STORE = "results.sqlite"  # the rows of a folder of `hstar bench`


def fill(file: Path) -> int:
    """Runs the commands of one page; gives the exit code."""
    text, old = "", file.read_text()
    position = filled = 0
    for block in _BLOCK.finditer(old):
        if _START.search(block[2]):
            print(f"{block[1]}: no end before the next block; {file} is unchanged", file=sys.stderr)
            return 1
        text += old[position : block.start(2)]
        position = block.start(2)
        program, *words = shlex.split(block[1])
        runs = [Path(word) for word in words if word.startswith("runs/")]
        if missing := next((run for run in runs if not run.exists() and not unpack(run)), None):
            print(f"{block[1]}: left as it is, there is no {missing}", file=sys.stderr)
            continue
        command = [sys.executable, *(["-m", program] if program == "hstar" else []), *words]
        done = subprocess.run(command, check=False, stdout=subprocess.PIPE, text=True)
        if done.returncode != 0:
            print(f"{block[1]}: failed; {file} is unchanged", file=sys.stderr)
            return done.returncode
        text += "\n" + re.sub(r"^#", "##", done.stdout.strip(), flags=re.MULTILINE) + "\n\n"
        position = block.end(2)
        filled += 1
    file.write_text(text + old[position:])
    print(f"{file}: {filled} blocks filled", file=sys.stderr)
    return 0


def unpack(run: Path) -> bool:
    """Whether results/ has the rows of a run; they are then where the run was."""
    folder = run.suffix != ".jsonl"
    packed = KEPT / f"{run.name}{'.sqlite' if folder else ''}.xz"
    if not packed.is_file():
        return False
    target = run / STORE if folder else run
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(lzma.decompress(packed.read_bytes()))
    return True


def keep(run: Path) -> int:
    """Packs the rows of one run; gives the exit code."""
    if run.suffix == ".jsonl":
        content = run.read_bytes()
        machines = [json.loads(line).get("machine") or {} for line in content.splitlines()]
        unfinished = 0
    else:
        with tempfile.TemporaryDirectory() as folder, sqlite3.connect(run / STORE) as store:
            content = compact(store, Path(folder)).read_bytes()
            machines = [json.loads(text) for (text,) in store.execute("SELECT DISTINCT machine FROM attempt")]
            wanted = "SELECT DISTINCT key FROM label WHERE key NOT IN (SELECT key FROM attempt)"
            (unfinished,) = store.execute(f"SELECT count(*) FROM ({wanted})").fetchone()
    commits = {machine["commit"] for machine in machines if machine.get("commit")}
    if dirty := sorted(commit for commit in commits if commit.endswith("-dirty")):
        print(f"{run}: not kept, rows of a changed work tree ({', '.join(dirty)})", file=sys.stderr)
        return 1
    if unfinished:
        print(f"{run}: not kept, {unfinished} jobs are not finished", file=sys.stderr)
        return 1
    KEPT.mkdir(exist_ok=True)
    packed = KEPT / f"{run.name}{'' if run.suffix == '.jsonl' else '.sqlite'}.xz"
    packed.write_bytes(lzma.compress(content, preset=9 | lzma.PRESET_EXTREME))
    print(f"{packed}: {packed.stat().st_size:,} bytes", file=sys.stderr)
    return 0


def compact(store: sqlite3.Connection, folder: Path) -> Path:
    """A copy of a store in a folder, without free pages; the run itself is only read."""
    store.execute("VACUUM INTO ?", (str(folder / STORE),))
    return folder / STORE


def pause(run: Path) -> int:
    """Packs a run with what its jobs to come may read: the files that are not of searches."""
    if run.suffix == ".jsonl":
        return archived(run, [(run, run.name)])
    with tempfile.TemporaryDirectory() as folder, sqlite3.connect(run / STORE) as store:
        files = [(compact(store, Path(folder)), STORE)]
        made = store.execute("SELECT outputs FROM attempt JOIN job USING (key) WHERE kind != 'search'")
        for digest in sorted({digest for (texts,) in made for digest in json.loads(texts).values()}):
            name = f"artefacts/{digest[:2]}/{digest[2:]}"
            files.append((run / name, name))
        return archived(run, files)


def archived(run: Path, files: list[tuple[Path, str]]) -> int:
    """Writes the archive of a paused run."""
    PAUSED.mkdir(parents=True, exist_ok=True)
    packed = PAUSED / f"{run.name}.tar.xz"
    with tarfile.open(packed, "w:xz") as archive:
        for path, name in files:
            archive.add(path, name)
    print(f"{packed}: {packed.stat().st_size:,} bytes", file=sys.stderr)
    return 0


def resume(run: Path) -> int:
    """Unpacks a paused run to where it was."""
    packed = PAUSED / f"{run.name}.tar.xz"
    if run.exists() or not packed.is_file():
        why = "it is there already" if run.exists() else f"there is no {packed}"
        print(f"{run}: not resumed, {why}", file=sys.stderr)
        return 1
    with tarfile.open(packed) as archive:
        archive.extractall(run.parent if run.suffix == ".jsonl" else run, filter="data")
    return 0


def main(words: list[str]) -> int:
    """Does what the first word says; the exit code of the first run or page that fails."""
    if (act := {"--keep": keep, "--pause": pause, "--resume": resume}.get(next(iter(words), ""))) is not None:
        return next(filter(None, map(act, map(Path, words[1:]))), 0)
    pages = [Path(word) for word in words] or [Path("RESULTS.md"), *sorted(Path("docs/results").glob("*.md"))]
    return next(filter(None, map(fill, pages)), 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
