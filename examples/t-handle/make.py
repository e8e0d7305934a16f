"""Write the generated step, as a file and into the page, after a change of its kernels or of the generator:

python examples/t-handle/make.py
"""

import re
from pathlib import Path

import polhode
from polhode.export import LANGUAGES

PAGE = Path(__file__).parent / "index.html"
STEP = PAGE.with_name("exact_rotor.mjs")
BLOCK = re.compile(r"(?<=// BEGIN exact_rotor\.mjs\n).*?(?=// END exact_rotor\.mjs\n)", re.DOTALL)


def main() -> None:
    """Write both."""
    source = LANGUAGES["javascript"].source(polhode.methods["exact_rotor"])
    STEP.write_text(source, encoding="utf-8")
    text = BLOCK.sub(lambda _: source, PAGE.read_text(encoding="utf-8"))
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
