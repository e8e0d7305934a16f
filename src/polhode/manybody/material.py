"""What clumps and walls are made of, and the elastic constants that follow."""

from dataclasses import dataclass
from math import isfinite


@dataclass(frozen=True)
class Material:
    """An isotropic elastic material; clumps and walls of a scene are made of the same.

    Parameters
    ----------
    density : float
        kg/m^3
    young : float
        Young's modulus, Pa.
    poisson : float
        Poisson's ratio, above -1 and at most 0.5.

    Raises
    ------
    ValueError
        If a number cannot be; the message says which.
    """

    density: float
    young: float
    poisson: float

    def __post_init__(self) -> None:
        for name in ("density", "young"):
            value = getattr(self, name)
            if not (isfinite(value) and value > 0):
                raise ValueError(f"material: {name} must be positive and finite, got {value!r}")
        if not -1 < self.poisson <= 0.5:
            raise ValueError(f"material: poisson must lie above -1 and not above 0.5, got {self.poisson!r}")

    @property
    def shear(self) -> float:
        """Shear modulus G = E/(2(1 + nu)), Pa."""
        return self.young / (2 * (1 + self.poisson))

    @property
    def reduced(self) -> float:
        """E* of a contact between two bodies of this material, 1/E* = 2(1 - nu^2)/E, Pa."""
        return self.young / (2 * (1 - self.poisson**2))
