"""Groups in braces of LaTeX."""


def closing(text: str, start: int) -> int:
    """The position of the brace that closes the group which opens at ``start``; the end of the text if there is none."""
    depth = 0
    for place in range(start, len(text)):
        if text[place] in "{}" and text[place - 1 : place] != "\\":
            depth += 1 if text[place] == "{" else -1
            if depth == 0:
                return place
    return len(text)


def groups(text: str) -> list[str]:
    """The contents of the groups of which a text consists."""
    contents, place = [], text.find("{")
    while place >= 0:
        end = closing(text, place)
        contents.append(text[place + 1 : end])
        place = text.find("{", end)
    return contents
