"""The material of clumps and walls, and its derived elastic constants."""

from dataclasses import dataclass

from polhode.interface.arguments import number, positive


@dataclass(frozen=True)
class Material:
    """An isotropic elastic material, shared by the clumps and walls of a scene.

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
    TypeError, ValueError
        If a value is not a number or not possible; the message says which.
    """

    density: float
    young: float
    poisson: float

    def __post_init__(self) -> None:
        for name, unit in (("density", "kg/m^3"), ("young", "Pa")):
            positive(f"material: {name}", getattr(self, name), unit)
        number("material: poisson", self.poisson)
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
