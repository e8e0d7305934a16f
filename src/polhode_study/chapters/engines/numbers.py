"""Numbers of the engine atlas."""

from polhode.fits.tumbling import NOTICED_CHANGE, tumbling
from polhode_study.chapters.engines import frames
from polhode_study.inputs import Inputs
from polhode_study.report.latex import decimal, escape, number


def engines(inputs: Inputs) -> dict[str, str]:
    """Macros for the text: rows, engines, identified rows and which of them are read in the source, defaults, date."""
    data = inputs.atlas
    order = data["q_order"].sel(load="free").values
    defaults = data["is_default"].values == 1
    usual = data.isel(engine=frames.usual(data))
    ends = list(map(str, usual["end"].values))
    read = (data["source_read"] * data["is_identified"]).sum() if "source_read" in data else 0
    return {
        "studyEngineRows": str(data.sizes["engine"]),
        "studyEngineCount": str(len(set(map(str, data["key"].values)))),
        "studyEngineIdentified": str(int(data["is_identified"].sum())),
        "studyEngineRead": str(int(read)),
        "studyEngineDefaults": str(int(defaults.sum())),
        "studyEngineDefaultsFirstOrder": str(int((defaults & ~(order > 1.5)).sum())),
        "studyEngineUsual": str(len(ends)),
        "studyEngineWithout": str(len(set(map(str, usual["key"].values[usual["is_default"].values != 1])))),
        "studyEngineWithoutRows": str(int((usual["is_default"].values != 1).sum())),
        "studyEngineDiverge": str(ends.count("diverges")),
        "studyEngineTumble": str(int(tumbling(usual).sum())),
        "studyEngineNoticed": f"{100 * NOTICED_CHANGE:g}",
        "studyEngineFrictionSecond": str(int((usual["q_order"].sel(load="velocity") > 1.5).sum())),
        "studyEngineError": f"{frames.SHORT_ERROR:g}",
        "studyEngineRadians": f"{frames.RADIANS:g}",
        "studyEngineDate": str(data.attrs["date"]),
        "studyEngineWithin": f"{float(data.attrs['within']):g}",
        "studyEngineApart": f"{float(data.attrs['apart']):g}",
    }


#: Codes that polhode imitates, and the ends of the macros for the largest distance.
CODES = {"lammps": "LammpsImitated", "yade": "YadeImitated"}


def contact_codes(inputs: Inputs) -> dict[str, str]:
    """Macros for the text: date, step of the table, and the largest distance of an imitation, by code."""
    data = frames.contacts(inputs)
    result = {"studyCodesDate": str(data.attrs["date"]), "studyCodesShown": str(frames.SHOWN)}
    deviations = {key: data["deviation"].sel(code=[code for code in data["code"].values if code == key]) for key in CODES}
    deviations["YadeImitatedOthers"] = deviations["yade"].drop_sel(case="two_spheres")
    for name, deviation in deviations.items():
        result[f"studyCodes{CODES.get(name, name)}"] = number(float(deviation.max()) if deviation.size else float("nan"), 1)
    taken = data["energy"].sel(
        case="clump_damped", form="taken_by_law", code=[code for code in data["code"].values if code == "lammps"]
    )
    result["studyCodesTaken"] = decimal(100 * float(taken.item()) if taken.size else float("nan"), 1)
    result["studyCodesSeeds"] = str(data.sizes["seed"])
    height = data["bed_height"]
    apart = [float(abs((height.sel(code=code) - height.sel(code="polhode")).mean())) for code in data["code"].values]
    result["studyCodesBedApart"] = decimal(max(apart) / float(height.sel(code="polhode").std(ddof=1)), 1)
    return result


def liquid_codes(inputs: Inputs) -> dict[str, str]:
    """Macros for the text: date, version, steps compared and the longest, largest distance, and time of the long runs."""
    data = frames.liquids(inputs)
    longest = data.isel(scene=0, size=-1)
    more = longest["more_kinetic"].sel(option="rattle")
    share = more / (longest["kinetic"].sel(option="rattle").mean() - more)
    water = data.sel(scene=[scene for scene in data["scene"].values if str(scene).startswith("water")])
    return {
        "studyLiquidCodesDate": str(data.attrs["date"]),
        "studyLiquidCodesVersion": escape(str(data.attrs["version"])),
        "studyLiquidCodesSteps": str(data.sizes["step"] - 1),
        "studyLiquidCodesLongest": f"{float(water['dt'].max()):g}",
        "studyLiquidCodesApart": rf"\qty{{{float(water['apart'].max()):.0e}}}{{kcal/mol}}",
        "studyLiquidCodesRattle": decimal(100 * float(share), 0),
        "studyLiquidCodesHeats": decimal(float(data["drift"].sel(option="rigid/small").isel(long_dt=-1).mean()), 1),
        "studyLiquidCodesKept": decimal(float(abs(data["drift"].sel(option=["rigid/nve/small", "shake"])).max()), 3),
        "studyLiquidCodesLong": f"{1e-3 * float(data['time'][-1]):g}",
    }
