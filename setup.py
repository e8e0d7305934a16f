"""One addition to pyproject.toml: the released data of ``recommend`` and ``identify`` go from data/ into the package."""

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

#: Times of steps, energies of many bodies, laws of random bodies, what engines run: those that there are.
RELEASED = [
    Path("data/released") / name
    for name in (
        "cost.nc",
        "step_times.json",
        "many_body.nc",
        "laws.nc",
        "satellites.json",
        "contacts.nc",
        "grains.nc",
        "liquids.nc",
        "atlas.nc",
        "full/checks/baths.nc",
    )
]
RELEASED += sorted(Path("data/released/checks").glob("*.nc"))


class BuildWithTimes(build_py):
    """As always, and then these files: data/released stays a folder of the repository, with what is made beside it."""

    def run(self) -> None:
        """Copy the modules, and what the wheel holds beside them."""
        super().run()
        if not self.editable_mode:
            for path in filter(Path.is_file, RELEASED):
                target = Path(self.build_lib, "polhode", *path.parts)
                self.mkpath(str(target.parent))
                self.copy_file(str(path), str(target))


setup(cmdclass={"build_py": BuildWithTimes})
