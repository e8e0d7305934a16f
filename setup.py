"""One addition to pyproject.toml: the released times of ``polhode recommend`` go from data/ into the package."""

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

RELEASED = Path("data/released/cost.nc")


class BuildWithTimes(build_py):
    """As always, and then one more file: data/released stays a folder of the repository, with what is made beside it."""

    def run(self) -> None:
        """Copy the modules, and what the wheel holds beside them."""
        super().run()
        if not self.editable_mode:
            target = Path(self.build_lib, "polhode", *RELEASED.parts)
            self.mkpath(str(target.parent))
            self.copy_file(str(RELEASED), str(target))


setup(cmdclass={"build_py": BuildWithTimes})
