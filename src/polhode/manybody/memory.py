"""What contacts keep from step to step, without hashing: contacts come in one order, so two sorted lists are merged.

Only touching contacts are kept, each under a number that rises in the order in which contacts are summed
(:mod:`polhode.manybody.contact`). What a neighbour list omits is not in contact, so lists change no bit of a history.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from polhode.compiling.kernel import compiled, kernel, subroutine
from polhode.compiling.lanes import LANES, empty_fields
from polhode.methods.one_body import state_rows

#: Places in ``counts`` of :class:`Memory`.
CURRENT, OLD, NEW, CURSOR, WAITING = range(5)
#: Columns of ``ledger``: stored by normal and tangential springs; dissipated by normal and tangential dashpots and by sliding;
#: taken by the law. After these of the law come the work that moving walls do, J, and its rate, W.
STORED, WORK, LEDGER, WALLS, POWER = 0, 2, 6, 6, 7
#: The rows of ``ledger``: of the last loads, and of the run.
STEP, RUN = 0, 1
#: What the engine itself keeps of a contact: its normal and its overlap.
GEOMETRY = 4

#: A number above that of any contact.
LAST = 2**63 - 1


class Memory(NamedTuple):
    """The histories of all touching contacts at the last loads, and room for those of the next.

    Parameters
    ----------
    keys : (2, capacity), int: the numbers of the contacts, ascending; one row is current, the other is written
    values : (2 capacity + 1, width): what they keep, :data:`GEOMETRY` and the history of the law, SI; the last row is zero
    counts : (5,), int: the current row, the lengths of this row and of the other, the place of the cursor, and the contacts
        that wait in the batch
    ledger : (2, LEDGER + 2): energies, J, and the power of the walls, W; rows see :data:`STEP`, columns :data:`STORED`
    batch : (fields * LANES,): contacts that wait for an answer, in lanes; what will be kept of them comes first
    waiting : (3, LANES), int: of each of these, the places of both clumps (-1: a wall) and the number of the contact
    """

    keys: Any
    values: Any
    counts: Any
    ledger: Any
    batch: Any
    waiting: Any


@compiled
def empty_memory(capacity: int, width: int, batch: int) -> Memory:
    """A memory with room for ``capacity`` contacts, and none in it.

    ``width`` is how many numbers are kept of a contact and ``batch`` the number of fields of a batch; both are 0 for a law that
    keeps nothing.
    """
    return Memory(
        np.zeros((2, capacity), np.int64),
        np.zeros((2 * capacity + 1, width)),
        np.zeros(5, np.int64),
        np.zeros((2, LEDGER + 2)),
        empty_fields(batch * LANES),
        np.zeros((3, LANES), np.int64),
    )


@subroutine
def copy_memory(memory: Memory, to: Memory) -> None:
    """Copy the current contacts of ``memory``, its counts and its energies into a memory of the same or a larger capacity."""
    current, number = memory.counts[CURRENT], memory.counts[OLD]
    begin, begin_copy = current * memory.keys.shape[1], current * to.keys.shape[1]
    for k in range(number):
        to.keys[current, k] = memory.keys[current, k]
        for column in range(memory.values.shape[1]):
            to.values[begin_copy + k, column] = memory.values[begin + k, column]
    for k in range(to.counts.size):
        to.counts[k] = memory.counts[k]
    for k in range(LEDGER + 2):
        to.ledger[STEP, k] = memory.ledger[STEP, k]
        to.ledger[RUN, k] = memory.ledger[RUN, k]


@kernel
def add_work_of_walls(memory: Memory, since: float, commit: bool) -> None:
    """After a pass over all contacts, add the work (J) that the walls have done since the last one, by the trapezoidal rule.

    ``since`` is the time since then, s. Without ``commit`` the pass was a trial, and nothing is added.
    """
    counts, ledger = memory.counts, memory.ledger
    if commit and counts[NEW] <= memory.keys.shape[1]:
        ledger[RUN, WALLS] += 0.5 * since * (ledger[RUN, POWER] + ledger[STEP, POWER])
        ledger[RUN, POWER] = ledger[STEP, POWER]


class Recollection(NamedTuple):
    """Kernels that use a memory, for one law.

    ``open(memory)`` begins a pass over all contacts. ``ends_before(memory, key)`` says whether contacts before ``key`` have
    ended, ``end_until(memory, key)`` ends them. ``recall(memory, key) -> row`` gives the row of ``values`` of a contact (the
    zero row of a new one), ``remember(memory)`` writes those of the batch, and ``close(memory, commit)`` ends the pass. Without
    ``commit``, or if there was no room for all contacts, the pass was a trial, and everything stays as it was.
    """

    open: Callable[..., Any]
    ends_before: Callable[..., Any]
    end_until: Callable[..., Any]
    recall: Callable[..., Any]
    remember: Callable[..., Any]
    close: Callable[..., Any]


@cache
def recollection(end: Callable[..., Any], history: int) -> Recollection:
    """The kernels for a law that keeps ``history`` numbers of a contact, as a :class:`Recollection`.

    ``end`` is a kernel (history) -> work, what the law takes when a contact ends, see
    :class:`polhode.manybody.law.Response`.
    """
    load_history, _ = state_rows(history, first=GEOMETRY)

    @kernel
    def open_pass(memory: Memory) -> None:
        counts, ledger = memory.counts, memory.ledger
        counts[NEW] = 0
        counts[CURSOR] = 0
        for k in range(LEDGER):
            ledger[STEP, k] = 0.0

    @kernel
    def ends_before(memory: Memory, key: int) -> bool:
        keys, counts = memory.keys, memory.counts
        k = counts[CURSOR]
        return k < counts[OLD] and keys[counts[CURRENT], k] < key  # type: ignore[no-any-return]

    @kernel
    def end_until(memory: Memory, key: int) -> None:
        keys, values, counts, ledger = memory.keys, memory.values, memory.counts, memory.ledger
        current, k = counts[CURRENT], counts[CURSOR]
        while k < counts[OLD] and keys[current, k] < key:
            work = end(load_history(values, current * keys.shape[1] + k))
            for column in range(len(work)):
                ledger[STEP, WORK + column] += work[column]
            k += 1
        counts[CURSOR] = k

    @kernel
    def recall(memory: Memory, key: int) -> Any:
        keys, counts = memory.keys, memory.counts
        current, k = counts[CURRENT], counts[CURSOR]
        row = 2 * keys.shape[1]
        if k < counts[OLD] and keys[current, k] == key:
            row = current * keys.shape[1] + k
            counts[CURSOR] = k + 1
        return row

    @kernel
    def remember(memory: Memory) -> None:
        keys, values, batch, counts = memory.keys, memory.values, memory.batch, memory.counts
        other, capacity = 1 - counts[CURRENT], keys.shape[1]
        for n in range(counts[WAITING]):
            k = counts[NEW] + n
            if k < capacity:
                keys[other, k] = memory.waiting[2, n]
                for column in range(GEOMETRY + history):
                    values[other * capacity + k, column] = batch[column * LANES + n]
        counts[NEW] += counts[WAITING]
        counts[WAITING] = 0

    @kernel
    def close(memory: Memory, commit: bool) -> None:
        counts, ledger = memory.counts, memory.ledger
        if commit and counts[NEW] <= memory.keys.shape[1]:
            counts[CURRENT] = 1 - counts[CURRENT]
            counts[OLD] = counts[NEW]
            for k in range(WORK, LEDGER):
                ledger[RUN, k] += ledger[STEP, k]

    return Recollection(open_pass, ends_before, end_until, recall, remember, close)
