"""A run of many bodies has the same bits however it is done: by neighbour lists, by all pairs, or by plain steps."""

import numpy as np

import polhode
from polhode.manybody.neighbours import CONTACTS
from polhode.manybody.simulation import run
from polhode.manybody.step import PlainRun


def both_ways(scene, method, dt, begin, at, few=False):
    """The outcome of a run with lists, after a check that one over all pairs has its bits; ``few``: and one of two samples."""

    def outcome(at, **how):
        return run(scene, polhode.methods[method], dt, begin, at, record=True, **how)

    listed, every = outcome(at), outcome(at, brute_force=True)
    assert listed["work"][CONTACTS] == every["work"][CONTACTS]
    names = [name for name in ("motion", "energies", "momenta", "ledger", "work_of_walls", "diverged") if name in listed]
    for name in names:
        assert np.asarray(listed[name]).tobytes() == np.asarray(every[name]).tobytes(), name
    if few:
        ends = outcome(at[[0, -1]])
        for name in names:
            np.testing.assert_array_equal(np.atleast_1d(ends[name])[-1], np.atleast_1d(listed[name])[-1], name)
    return listed


def as_plain_steps(scene, method, dt, begin, steps, **options):
    """The work of a run whose end has the bits of so many plain steps (:mod:`polhode.manybody.step`)."""
    plain = PlainRun(scene, begin, polhode.methods[method], dt)
    for _ in range(steps):
        plain.step()
    outcome = run(scene, polhode.methods[method], dt, begin, np.array([0, steps]), record=True, **options)
    np.testing.assert_array_equal(plain.read(), outcome["motion"][-1])
    return outcome["work"]
