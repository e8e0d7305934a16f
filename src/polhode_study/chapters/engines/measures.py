"""Measures for what sources say of codes: the released engine atlas."""

from polhode_study.inputs import Inputs, NotInRun


def options_identified(results: Inputs, engine: str, methods: list[str]) -> tuple[float, str]:
    """The number of options of an engine whose step is identified as one of these methods."""
    data = results.atlas
    rows = [data.isel(engine=i) for i, key in enumerate(data["key"].values) if str(key) == engine]
    if not rows:
        raise NotInRun(f"the released atlas has no row of {engine}")
    count, words = 0, []
    for row in rows:
        done, option, label = int(row["is_identified"]), str(row["option"].item()), str(row["method_label"].item())
        count += bool(done) and not set(str(row["method"].item()).split(" = ")).isdisjoint(methods)
        words.append(f"{option}: {label if done else 'not identified'}")
    return float(count), f"{rows[0]['label'].item()} {rows[0]['version'].item()}, {'; '.join(words)}"
