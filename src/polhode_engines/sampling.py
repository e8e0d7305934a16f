"""Runs read after given numbers of steps, in a loop that adapters share.

Adapters import this file as ``polhode_sampling``, also under the Python of an engine, which has numpy and no polhode
(:func:`polhode_engines.worker.load`).
"""

import numpy as np


class NotInRelease(Exception):
    """The installed release of the engine lacks the option; the message says which release and what it has instead."""


def sampled(samples, state, advance, read):
    """What ``read`` returns after the numbers of steps ``samples``: for each of its values an array (samples, ...).

    Parameters
    ----------
    samples : numbers of steps, ascending
    state : what the engine steps
    advance : (state, count) -> the state after ``count`` more steps
    read : state -> q, omega or other values; it may use the memory of the engine
    """
    rows, n = [], 0
    for wanted in map(int, samples):
        if wanted > n:
            state, n = advance(state, wanted - n), wanted
        rows.append([np.array(values, dtype=float) for values in read(state)])
    return tuple(np.array(values) for values in zip(*rows, strict=True))


def stepped(samples, step, read):
    """q (n, 4) and omega (n, 3) after the n ascending numbers of steps ``samples``, of an engine that holds its state.

    ``step()`` takes a step, ``read()`` returns q, scalar first, body to lab, and omega in the body frame, rad/s, of that time.
    """

    def advance(_, count):
        for _ in range(count):
            step()

    return sampled(samples, None, advance, lambda _: read())


def in_one_call(jax, step):
    """A function of ``(count, state, *loads)``: the state after ``count`` calls of ``step(state, *loads)``, as one loop.

    ``jax`` is that module; it compiles the loop. States and loads are what jax knows as trees of arrays.
    """
    return jax.jit(lambda count, state, *loads: jax.lax.fori_loop(0, count, lambda _, now: step(now, *loads), state))
