"""Every chapter with its lines of code and of text, the CPU seconds of its experiments, and who reads it.

``python -m polhode_study.chapters.overview`` prints it.
"""

from pathlib import Path

from polhode_study.chapters import all_chapters


def overview() -> str:
    """The table as text, a line for each chapter."""
    lines = [f"{'chapter':<16} code  text  CPU s  read by"]
    for key, chapter in all_chapters().items():
        folder = Path(__file__).parent / key
        code, text = (sum(path.read_text().count("\n") for path in folder.glob(kind)) for kind in ("*.py", "*.tex"))
        seconds = sum(check.seconds for check in chapter.checks.values())
        lines.append(f"{key:<16}{code:5} {text:5} {seconds:6.0f}  {chapter.readers}")
    return "\n".join(lines)


if __name__ == "__main__":
    print(overview())
