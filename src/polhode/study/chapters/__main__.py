"""Every chapter with its lines of code and of text, the CPU seconds of its experiments, and who reads it.

Run it with ``python -m polhode.study.chapters``.
"""

from pathlib import Path

from polhode.study.chapters import all_chapters

print(f"{'chapter':<16} code  text  CPU s  read by")
for key, chapter in all_chapters().items():
    folder = Path(__file__).parent / key
    code, text = (sum(path.read_text().count("\n") for path in folder.glob(kind)) for kind in ("*.py", "*.tex"))
    print(f"{key:<16}{code:5} {text:5} {sum(check.seconds for check in chapter.checks.values()):6.0f}  {chapter.readers}")
