"""Measures for what sources say of codes: the released engine atlas."""

from polhode.fits.atlas_names import key_of
from polhode_study.inputs import Inputs, NotInRun


def options_identified(results: Inputs, engine: str, methods: list[str]) -> tuple[float, str]:
    """The number of options of an engine whose step is identified as one of these methods."""
    data = results.atlas
    rows = [data.isel(engine=i) for i, key in enumerate(data["key"].values) if str(key) == engine]
    if not rows:
        raise NotInRun(f"the released atlas has no row of {engine}")
    count = 0
    words: dict[str, list[str]] = {}
    for row in rows:
        done, option, label = int(row["is_identified"]), str(row["option"].item()), str(row["method_label"].item())
        count += bool(done) and not set(map(key_of, str(row["method"].item()).split(" = "))).isdisjoint(methods)
        words.setdefault(str(row["version"].item()), []).append(f"{option}: {label if done else 'not identified'}")
    releases = (f"{version}, {'; '.join(of_options)}" for version, of_options in words.items())
    return float(count), f"{rows[0]['label'].item()} {'. '.join(releases)}"
