"""Several searches at a time: in threads, which run side by side since the core needs no interpreter.

Results come in the order of what is searched. Ctrl-C stops all searches that run, and then goes on as usual.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

from hstar import _core
from hstar.errors import uninterrupted

if TYPE_CHECKING:
    from concurrent.futures import Future

T = TypeVar("T")
R = TypeVar("R")
Progress = Callable[[_core.Progress], None]


def side_by_side(
    items: Iterable[T],
    search: Callable[[T, Progress | None], R],
    jobs: int = 1,
    progress: Progress | None = None,
) -> Iterator[tuple[T, R]]:
    """Each item with what `search` finds for it; a `KeyboardInterrupt` after a result that was interrupted.

    `search` hands its second argument on to the core. With one job it runs in this thread and `progress` is
    told of it.
    """
    if jobs == 1:
        for item in items:
            result = search(item, progress)
            yield item, result
            uninterrupted(result)
        return
    from concurrent.futures import ThreadPoolExecutor

    stopping = threading.Event()

    def heed(*record: _core.Progress) -> None:
        if stopping.is_set():
            raise KeyboardInterrupt  # ends this search, not the thread

    with ThreadPoolExecutor(jobs) as pool:
        waiting: deque[tuple[T, Future[R]]] = deque()
        try:
            for item in items:
                waiting.append((item, pool.submit(search, item, heed)))
                if len(waiting) > 2 * jobs:  # enough for no thread to be idle
                    yield waiting[0][0], waiting[0][1].result()
                    waiting.popleft()
            while waiting:
                yield waiting[0][0], waiting[0][1].result()
                waiting.popleft()
        except BaseException:
            stopping.set()
            pool.shutdown(cancel_futures=True)
            raise
