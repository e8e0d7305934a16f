"""The material of clumps and walls, and the elastic constants of two that touch."""

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


@dataclass(frozen=True)
class MaterialPair:
    """Two materials that touch; the second is None if it is rigid."""

    first: Material
    second: Material | None

    @property
    def reduced(self) -> float:
        """E*, 1/E* = (1 - nu1^2)/E1 + (1 - nu2^2)/E2, Pa; without the second term if the second is rigid."""
        first, second = self.first, self.second
        if second is None:
            return first.young / (1 - first.poisson**2)
        if first == second:
            return first.reduced
        return 1 / ((1 - first.poisson**2) / first.young + (1 - second.poisson**2) / second.young)

    @property
    def shear(self) -> float:
        """G*, 1/G* = (2 - nu1)/G1 + (2 - nu2)/G2, Pa; without the second term if the second is rigid."""
        first, second = self.first, self.second
        softness = (2 - first.poisson) / first.shear
        return 1 / (softness + (0.0 if second is None else (2 - second.poisson) / second.shear))
