"""Runs read after given numbers of steps, in a loop that adapters share.

Adapters import this file as ``polhode_sampling``, also under the Python of an engine, which has numpy and no polhode
(:func:`polhode.engines.worker.load`).
"""

import numpy as np


def sampled(samples, state, advance, read):
    """q (samples, 4) and omega (samples, 3) after the numbers of steps ``samples``, which ascend.

    Parameters
    ----------
    state : what the engine steps
    advance : (state, count) -> the state after ``count`` more steps
    read : state -> q, omega
    """
    q, omega, n = np.empty((len(samples), 4)), np.empty((len(samples), 3)), 0
    for i, wanted in enumerate(map(int, samples)):
        if wanted > n:
            state, n = advance(state, wanted - n), wanted
        q[i], omega[i] = read(state)
    return q, omega


def stepped(samples, step, read):
    """The same of an engine that holds its state: ``step()`` takes a step, ``read()`` returns q, omega."""

    def advance(_, count):
        for _ in range(count):
            step()

    return sampled(samples, None, advance, lambda _: read())


def in_one_call(jax, step):
    """A function of ``(count, state, *loads)``: the state after ``count`` calls of ``step(state, *loads)``, as one loop."""
    return jax.jit(lambda count, state, *loads: jax.lax.fori_loop(0, count, lambda _, now: step(now, *loads), state))
