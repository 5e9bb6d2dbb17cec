"""`hstar learn`: problems of a domain in, a planner for other problems of it out."""

from __future__ import annotations

import argparse
import contextlib
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hstar.cli.folders import label_jobs, plans_of, read_files
from hstar.cli.options import Parser
from hstar.cli.problems import problem_files
from hstar.cli.progress import ProgressLine, show_outcome
from hstar.errors import HstarError, InputError
from hstar.files import check_files, check_writable
from hstar.limits import cores

if TYPE_CHECKING:
    from hstar.experiments.job import Job
    from hstar.experiments.learning import Learning
    from hstar.experiments.problems import ProblemSet
    from hstar.experiments.store import Store
    from hstar.spaces.relations import Vocabulary

DESCRIPTION = """\
Learns a planner for all problems of a domain, without choices to make. hstar labels states along plans
(yours, or plans that A* or lama-first finds), trains models, tries each of them in several searches on the
largest problems, and writes the best configuration with its model to KNOWLEDGE, which `hstar plan` runs.
Searches without a model take part; if one of them is best, hstar says so and keeps it. Ctrl-C or SIGTERM
writes what is known so far."""
EXAMPLES = ("hstar learn domain.pddl folder -o knowledge.hstar --budget 30s",)
_INTERRUPTED = 130
_LEAST_S = 1.0


def configure(parser: Parser) -> None:
    add = parser.option
    parser.usage = f"{parser.prog} [OPTION ...] DOMAIN PROBLEM ... -o KNOWLEDGE"
    add("domain", "DOMAIN", "PDDL file of the domain.", type=Path)
    add("problems", "PROBLEM", "PDDL files of problems, or folders of them.", nargs="+", type=Path)
    add("--output -o", "FILE", "Write the knowledge to this file.", required=True)
    add("--plans", "FOLDER", "Label along plans in this folder, p01.plan for p01.pddl.")
    add("--budget", "T", "Wall-clock time of all parts together.", 600.0)
    add("--jobs -j", "N", "Number of processes at a time (default: all cores).")
    add("--json", None, "Print one JSON object about what was learned.")
    add("--quiet -q", None, "Show neither progress nor a summary.")


def run(arguments: argparse.Namespace) -> int:
    from hstar.experiments.knowledge import Knowledge, steps_of
    from hstar.experiments.store import Store

    started = time.monotonic()
    check_files(arguments.domain)
    check_writable(arguments.output, "knowledge")
    if arguments.budget < _LEAST_S:
        raise InputError("--budget takes 1s or more")
    given = dict.fromkeys(file for _, file in problem_files(arguments.problems, arguments.domain))
    files = sorted(given, key=lambda file: (file.stat().st_size, str(file)))
    knowledge = Knowledge(_words(arguments.domain, files), steps_of([]), interrupted=True)
    learning, stopped = None, True
    try:
        with (
            tempfile.TemporaryDirectory(prefix="hstar-learn-") as place,
            Store(Path(place)) as store,
            ProgressLine(arguments.quiet) as line,
        ):
            learning = _learning(arguments, files, store, started, line)
            try:
                learning.run()
                stopped = False
            finally:
                knowledge = learning.knowledge(interrupted=stopped)
    except KeyboardInterrupt:
        pass
    finally:
        # Whatever happened, what is known is not lost; but input that is refused leaves no file.
        if learning is not None or sys.exc_info()[0] is None:
            with _uninterrupted():
                knowledge.save(arguments.output)
    text = "lama-first alone"
    if learning is not None:
        from hstar.experiments.learning import in_words

        text = in_words(learning)
    for note in [] if learning is None else learning.notes:
        print(f"hstar: {' '.join(note.split())}", file=sys.stderr)
    steps = [step.candidate.name for step in knowledge.steps]
    record = {"domain": knowledge.words.domain, "steps": steps, "learned": knowledge.learned}
    record |= {"interrupted": stopped, **knowledge.summary}
    text = f"{knowledge.words.domain}: {text}"
    show_outcome(arguments, record, f"{text}{' (interrupted)' if stopped else ''}")
    return _INTERRUPTED if stopped else 0


def _words(domain: Path, files: Sequence[Path]) -> Vocabulary:
    """The vocabulary of the domain, which needs one problem that can be read."""
    from hstar.spaces.pddl import read_task
    from hstar.spaces.relations import vocabulary

    errors = list[HstarError]()
    for file in files:
        try:
            return vocabulary(read_task(domain, file))
        except HstarError as error:
            errors.append(error)
    raise errors[0]


def _learning(
    arguments: argparse.Namespace, files: Sequence[Path], store: Store, started: float, line: ProgressLine
) -> Learning:
    """Reads the problems, the smallest ones first, and the plans."""
    from hstar.experiments.learning import MEMORY, Learning
    from hstar.sampling.optimal import Optimal

    line.announce("reading the problems ...")
    problems = read_files(arguments.domain, files, store)
    plans = {} if arguments.plans is None else plans_of(arguments.domain, arguments.plans, list(problems))
    by_name = {problem.name: file for file, problem in problems.items()}

    def jobs_of(chosen: Sequence[ProblemSet], limit: float) -> list[Job]:
        how = Optimal(limit, MEMORY, siblings=True, satisficing=True)
        return label_jobs({by_name[one.name]: one for one in chosen}, how, store, plans)

    return Learning(
        words=_words(arguments.domain, list(problems)),
        store=store,
        problems=list(problems.values()),
        label_jobs=jobs_of,
        budget=arguments.budget,
        jobs=arguments.jobs or cores(),
        progress=lambda text: line.update(time.monotonic() - started, text),
        started=started,
    )


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """Signals that would end this process are ignored: a file is being written."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, signal.SIG_IGN) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
