"""Philox4x64-10 and normal numbers from it, against NumPy's generator."""

from statistics import NormalDist

import numba
import numpy as np
import pytest

from polhode.algebra.philox import block, two_normals, uniform


@numba.njit
def blocks(first, key, count):
    words = np.empty((count, 4), np.uint64)
    for k in range(count):
        words[k] = block((first[0] + np.uint64(k), first[1], first[2], first[3]), key)
    return words


@numba.njit
def many_normals(count):
    numbers = np.empty((count, 8))
    for k in range(count):
        a, b, c, d = block((np.uint64(k), np.uint64(5), np.uint64(0), np.uint64(0)), (np.uint64(7), np.uint64(0)))
        numbers[k] = two_normals(a) + two_normals(b) + two_normals(c) + two_normals(d)
    return numbers


def words(*values):
    return tuple(np.uint64(value) for value in values)


@pytest.mark.parametrize(
    ("counter", "key"),
    [((1, 0, 0, 0), (0, 0)), ((2**63 + 5, 17, 2**64 - 1, 3), (2**64 - 1, 12345)), ((9, 8, 7, 6), (5, 2**63))],
)
def test_bits_are_those_of_numpy(counter, key):
    # NumPy adds one to the counter before each block.
    value = sum(word << 64 * k for k, word in enumerate(counter)) - 1
    numpys = np.random.Philox(counter=value, key=key[0] | key[1] << 64).random_raw(4 * 50).reshape(50, 4)
    np.testing.assert_array_equal(blocks(words(*counter), words(*key), 50), numpys)


@pytest.mark.filterwarnings("ignore:overflow")
def test_plain_python_gives_the_same_words():
    counter, key = words(9, 8, 7, 6), words(5, 2**63)
    assert tuple(map(int, block.py_func(counter, key))) == tuple(map(int, blocks(counter, key, 1)[0]))


def test_normal_numbers_of_words_at_the_ends():
    for word, length in ((0, (2 * np.log(2**33)) ** 0.5), (2**64 - 1, (-2 * np.log1p(-(2.0**-33))) ** 0.5)):
        assert np.hypot(*two_normals(np.uint64(word))) == pytest.approx(length, rel=1e-6)
    assert uniform(np.uint64(0)) > 0 and uniform(np.uint64(2**64 - 1)) <= 1


def test_normal_numbers_are_normal_and_independent():
    numbers = many_normals(50_000)
    flat = np.sort(numbers.ravel())
    exact = np.vectorize(NormalDist().cdf)(flat[:: flat.size // 500])
    empirical = np.arange(flat.size)[:: flat.size // 500] / flat.size
    assert abs(exact - empirical).max() < 1.63 / flat.size**0.5, "Kolmogorov and Smirnov, 1 %"
    for power, moment, scatter in ((1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96)):
        assert abs((flat**power).mean() - moment) < 4 * (scatter / flat.size) ** 0.5
    for values in (numbers, numbers**2):
        correlations = np.corrcoef(np.hstack([values[:-1], values[1:]]).T) - np.eye(16)
        assert abs(correlations).max() < 4.5 / len(numbers) ** 0.5, "within a block, and with the next"
