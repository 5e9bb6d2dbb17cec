"""Keeps the rows behind the results, and fills the pages of results from them.

    python tools/results.py [FILE ...]       fills RESULTS.md and docs/results/*.md, or the named files
    python tools/results.py --keep RUN ...   packs the rows of finished runs into results/, for the former

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
and logs: `NAME.sqlite.xz` or `NAME.jsonl.xz`. Only finished runs of committed code are kept.
"""

from __future__ import annotations

import json
import lzma
import re
import shlex
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

_START = re.compile(r"^<!-- ((?:hstar|python) [^\n]*) -->\n", re.MULTILINE)
_BLOCK = re.compile(_START.pattern + r"(.*?)^<!-- end -->$", re.DOTALL | re.MULTILINE)
KEPT = Path("results")
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
        # A copy without free pages, so that the run itself is only read.
        with tempfile.TemporaryDirectory() as folder, sqlite3.connect(run / STORE) as store:
            store.execute("VACUUM INTO ?", (str(Path(folder, STORE)),))
            content = Path(folder, STORE).read_bytes()
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


def main(words: list[str]) -> int:
    """Keeps runs or fills pages; the exit code of the first that fails."""
    if words[:1] == ["--keep"]:
        return next(filter(None, map(keep, map(Path, words[1:]))), 0)
    pages = [Path(word) for word in words] or [Path("RESULTS.md"), *sorted(Path("docs/results").glob("*.md"))]
    return next(filter(None, map(fill, pages)), 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
