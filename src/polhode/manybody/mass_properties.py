"""Volume, centre of mass and inertia of a union of spheres, so that the overlaps within a clump count once.

Summing over the spheres would count overlaps twice. Instead the union is cut into columns along x. In each column the spheres
cover intervals whose union is exact, and so are the integrals of 1, x and x^2 along it. The remaining sum over the
cross-section converges quickly.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import pi
from typing import Any

import numpy as np

from polhode.compiling.kernel import compile_driver

#: Columns across the widest extent of the clump. They give the volume to about 1e-5 and the moments to about 3e-5.
COLUMNS = 600
#: Long, thin clumps need more: at least this many across the largest sphere and across the median one. The volume is then
#: correct to about 1e-4.
COLUMNS_IN_LARGEST, COLUMNS_IN_MEDIAN = 120, 50
#: An upper limit to the number of columns, so that nothing takes minutes.
MOST_COLUMNS = 20_000_000


@dataclass(frozen=True)
class MassProperties:
    """Volume, centre of mass and inertia of a body of density 1, or of one with a mass of its own.

    Parameters
    ----------
    volume : float
        m^3
    centre : array (3,)
        Centre of mass, m.
    inertia : array (3, 3)
        About the centre of mass, m^5; multiply by the density in kg/m^3 to obtain kg m^2. In kg m^2 of a body with a mass.
    mass : float, optional
        kg, where it does not follow from a density.
    """

    volume: float
    centre: np.ndarray
    inertia: np.ndarray
    mass: float | None = None


def overlapping(centres: np.ndarray, radii: np.ndarray) -> bool:
    """Whether any two spheres overlap by more than round-off. ``centres`` (n, 3) and ``radii`` (n,) in one unit.

    Round-off is 1e-12 of the sum of both radii. False for a single sphere.
    """
    for i in range(len(radii) - 1):
        distances = np.linalg.norm(centres[i + 1 :] - centres[i], axis=1)
        if (distances < (radii[i + 1 :] + radii[i]) * (1 - 1e-12)).any():
            return True
    return False


def union(centres: np.ndarray, radii: np.ndarray, columns: int = COLUMNS) -> MassProperties:
    """Mass properties at density 1 of the union of spheres with centres (n, 3) and radii (n,), m.

    Spheres that do not overlap are summed, which is exact. Otherwise there are ``columns`` columns across the widest extent,
    more if the clump is long and thin, and fewer where :data:`MOST_COLUMNS` in all would not be enough.
    """
    centres, radii = np.asarray(centres, float), np.asarray(radii, float)
    if not overlapping(centres, radii):
        return _moments(_sum_of_spheres(centres, radii))
    low, high = (centres - radii[:, None]).min(0), (centres + radii[:, None]).max(0)
    wide = (high - low)[1:]
    fine = min(2 * radii.max() / COLUMNS_IN_LARGEST, 2 * np.median(radii) / COLUMNS_IN_MEDIAN)
    edge = max(min(wide.max() / columns, fine * COLUMNS / columns), np.sqrt(wide.prod() / MOST_COLUMNS))
    order = np.argsort(centres[:, 0] - radii, kind="stable")
    # The cross-section is centred on that of the clump, so that a symmetric clump stays symmetric.
    ny, nz = (int(np.ceil((high - low)[k] / edge)) for k in (1, 2))
    y0, z0 = ((high + low)[k] / 2 - n * edge / 2 for k, n in ((1, ny), (2, nz)))
    return _moments(_compiled_columns()(centres[order], radii[order], float(y0), float(z0), ny, nz, float(edge)))


def of_masses(centres: np.ndarray, radii: np.ndarray, masses: np.ndarray, volume: float) -> MassProperties:
    """Mass properties of spheres with ``centres`` (n, 3) and ``radii`` (n,) in m, and a mass each, ``masses`` (n,) in kg.

    A sphere has the moment 2/5 m r^2 about its middle, and the moments of the whole are in kg m^2.
    Overlaps are not corrected, as in ``fix rigid`` of LAMMPS; ``volume`` is the volume of the union, m^3.
    """
    total = masses.sum()
    centre = (masses[:, None] * centres).sum(0) / total
    away = centres - centre
    about = (masses * ((away**2).sum(1) + 0.4 * radii**2)).sum()
    products = [[(masses * away[:, i] * away[:, j]).sum() for j in range(3)] for i in range(3)]
    return MassProperties(volume, centre, about * np.eye(3) - np.array(products), float(total))


def _sum_of_spheres(centres: np.ndarray, radii: np.ndarray) -> np.ndarray:
    """Integrals of 1, x, y, z, xx, yy, zz, yz, zx, xy over spheres."""
    volumes = 4 / 3 * pi * radii**3
    x, y, z = centres.T
    own = radii**2 / 5
    return np.array([(volumes * f).sum() for f in (1.0, x, y, z, x * x + own, y * y + own, z * z + own, y * z, z * x, x * y)])


@cache
def _compiled_columns() -> Callable[..., Any]:
    from numba import types

    from polhode.compiling.signatures import float_type, parameters_type, samples_type

    vector, rows = parameters_type, samples_type
    signature = vector(rows, vector, float_type, float_type, types.int64, types.int64, float_type)
    return compile_driver(_columns, signature)


def _columns(centres: Any, radii: Any, y0: float, z0: float, ny: int, nz: int, edge: float) -> Any:
    """The integrals of :func:`_sum_of_spheres` over the union, by columns along x; spheres are sorted by their lower end."""
    count = radii.size
    total = np.zeros(10)
    begins, ends = np.empty(count), np.empty(count)
    in_row = np.empty(count, np.int64)
    for iy in range(ny):
        y = y0 + (iy + 0.5) * edge
        some = 0
        for s in range(count):
            if abs(y - centres[s, 1]) < radii[s]:
                in_row[some] = s
                some += 1
        for iz in range(nz):
            z = z0 + (iz + 0.5) * edge
            met = 0
            for u in range(some):
                s = in_row[u]
                dy, dz = y - centres[s, 1], z - centres[s, 2]
                inside = radii[s] * radii[s] - dy * dy - dz * dz
                if inside > 0.0:
                    reach = np.sqrt(inside)
                    begin, end = centres[s, 0] - reach, centres[s, 0] + reach
                    k = met
                    while k > 0 and begins[k - 1] > begin:
                        begins[k], ends[k] = begins[k - 1], ends[k - 1]
                        k -= 1
                    begins[k], ends[k] = begin, end
                    met += 1
            k = 0
            while k < met:
                begin, end = begins[k], ends[k]
                k += 1
                while k < met and begins[k] <= end:
                    end = max(end, ends[k])
                    k += 1
                length = end - begin
                first = (end * end - begin * begin) / 2
                total[0] += length
                total[1] += first
                total[2] += length * y
                total[3] += length * z
                total[4] += (end * end * end - begin * begin * begin) / 3
                total[5] += length * (y * y + edge * edge / 12)
                total[6] += length * (z * z + edge * edge / 12)
                total[7] += length * y * z
                total[8] += first * z
                total[9] += first * y
    for k in range(total.size):
        total[k] = total[k] * edge * edge
    return total


def _moments(raw: np.ndarray) -> MassProperties:
    """Volume, centre and central inertia from the integrals."""
    volume = float(raw[0])
    centre = raw[1:4] / volume
    x, y, z = centre
    xx, yy, zz = raw[4:7] - volume * np.array([x * x, y * y, z * z])
    yz, zx, xy = raw[7:10] - volume * np.array([y * z, z * x, x * y])
    inertia = np.array([[yy + zz, -xy, -zx], [-xy, zz + xx, -yz], [-zx, -yz, xx + yy]])
    return MassProperties(volume, centre, inertia)
