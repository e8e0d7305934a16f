"""The keys of a configuration, with type, bounds, default and meaning of each.

They are defined only here. Every configuration is validated with these models, and ``python -m
polhode_study.documentation.configuration`` makes the JSON schema and the tables of the documentation from them.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag, model_validator
from pydantic_core import PydanticCustomError

#: Names that pydantic gives to the branches of a choice in the location of an error; no key looks like these.
WORD, LIST = "<word>", "<list>"
#: The kinds of ladder.
LADDERS = ("geometric", "divisions", "values")

T = TypeVar("T")


def _refusal(what: str) -> PydanticCustomError:
    """An error to raise in a validator; ``what`` follows the name of the key."""
    return PydanticCustomError("refused", "{what}", {"what": what})


def shown(value: float) -> str:
    """A number in the shortest usual form: 10 rather than 10.0."""
    return repr(value).removesuffix(".0")


# ---- types of values ----


def _whole(value: Any) -> Any:
    """The value with a whole float made an integer: powers of ten are allowed, and YAML and JSON read them as floats."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _each_once(values: Sequence[float]) -> Sequence[float]:
    for i, value in enumerate(values):
        if value in values[:i]:
            raise _refusal(f" holds {shown(value)} twice; keep one")
    return values


def _some_left(which: str) -> AfterValidator:
    """A validator that refuses a mapping in which all values are null; ``which`` describes them."""

    def check(parts: Mapping[str, T | None]) -> Mapping[str, T | None]:
        if all(value is None for value in parts.values()):
            raise _refusal(f": {which} is null; leave at least one in")
        return parts

    return AfterValidator(check)


def _branch(value: Any) -> str:
    return LIST if isinstance(value, list | tuple) else WORD


Positive = Annotated[float, Field(gt=0)]
Error = Annotated[float, Field(gt=0, le=1)]
Count = Annotated[int, Field(ge=1), BeforeValidator(_whole)]
#: Lists are not frozen, but the models are.
Texts = Annotated[tuple[str, ...], Field(strict=False)]
Errors = Annotated[
    tuple[Error, ...], Field(strict=False, min_length=1, json_schema_extra={"uniqueItems": True}), AfterValidator(_each_once)
]
TorquePrices = Annotated[
    tuple[Annotated[float, Field(ge=0)], ...],
    Field(strict=False, min_length=1, json_schema_extra={"uniqueItems": True}),
    AfterValidator(_each_once),
]
All = Annotated[Literal["all"], Tag(WORD)]
AllOrSome = Annotated[All | Annotated[Texts, Tag(LIST)], Discriminator(_branch)]
AllOrAtLeastOne = Annotated[All | Annotated[Texts, Field(min_length=1), Tag(LIST)], Discriminator(_branch)]


class StrictModel(BaseModel):
    """Keys that belong together; an unknown one is an error, and so is a value that would have to be converted."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, regex_engine="python-re")


# ---- step sizes ----


class LadderSection(StrictModel):
    """step sizes in s, of one kind; null removes a kind that another of the merged files has"""

    geometric: Annotated[tuple[Positive, Positive, Count], Field(strict=False)] | None = Field(
        default=None, description="[first, last, count]: step sizes in s and how many, evenly spread in the logarithm"
    )
    divisions: Annotated[tuple[Count, Count, Count], Field(strict=False)] | None = Field(
        default=None,
        description="[fewest, most, count]: the horizon divided into whole numbers of steps, evenly spread in the logarithm",
    )
    values: Annotated[tuple[Positive, ...], Field(strict=False, min_length=1)] | None = Field(
        default=None, description="step sizes, one by one; at least one"
    )
    truncate: bool | None = Field(
        default=None,
        description="a run ends at the last whole step before the horizon instead of refusing a step that does not divide it; "
        "by default true for many bodies, else false",
    )
    methods: AllOrAtLeastOne = Field(
        default="all",
        description='the word "all" (every method that runs the problem or scene) or a list of the only ones, beside those of '
        "plug-ins, that run with these step sizes, for steps that are too expensive for all",
    )

    @model_validator(mode="after")
    def _of_one_kind(self) -> Self:
        kinds = [kind for kind in LADDERS if getattr(self, kind) is not None]
        if not kinds:
            raise _refusal(f" needs {', '.join(LADDERS[:-1])} or {LADDERS[-1]}")
        if len(kinds) > 1:
            raise PydanticCustomError("ladder_of_two_kinds", "of two kinds", {"kinds": kinds})
        return self


SetName = Annotated[
    str,
    Field(
        pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]*$",
        description="the name of a set of step sizes is that of a folder: letters, digits, _, - and dots, none of these first",
    ),
]
Sets = Annotated[dict[SetName, LadderSection | None], Field(min_length=1), _some_left("every set of step sizes")]


# ---- runs on a problem ----


class LongRunSection(StrictModel):
    """one run per method far beyond the horizon"""

    horizon: Positive = Field(description="time simulated, s")
    dt: Positive = Field(description="the step size, s")
    samples: Count = Field(description="maximum number of samples")
    exact: bool | None = Field(
        default=None,
        description="whether it is compared with the exact solution; by default if there is a closed form or the horizon is "
        "not exceeded",
    )
    switched: bool = Field(default=False, description="whether to repeat it with the normalisation of the quaternion switched")


class Targets(StrictModel):
    """target errors for which the step size is sought between two bounds"""

    errors: Annotated[Errors, AfterValidator(lambda errors: tuple(sorted(errors)))] = Field(
        description="the errors, means of those of orientation and angular velocity"
    )
    dt_min: Positive = Field(description="the finest step size tried, s")
    dt_max: Positive = Field(description="the coarsest step size tried, s")
    truncate: bool = Field(
        default=False, description="a run ends at the last whole step before the horizon, so that any step size may be tried"
    )

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.dt_min >= self.dt_max:
            raise _refusal(f": dt_min = {shown(self.dt_min)} is not below dt_max = {shown(self.dt_max)}")
        if not self.truncate:
            raise _refusal(": the step sizes tried do not divide the time simulated; write truncate: true")
        return self


class ProblemSection(StrictModel):
    """the key of a problem, and its runs; null leaves it out"""

    dt: Sets = Field(
        description="named sets of step sizes; the set called fit, if there is one, gives the orders; null leaves one out"
    )
    samples: Count = Field(description="maximum number of states stored in the file of a run")
    means: bool = Field(default=False, description="whether errors are also averaged over the stored samples of each run")
    check_until: Positive | None = Field(
        default=None,
        description="the reference is compared with an independent Taylor integration up to this time, s; by default up to "
        "the horizon of the problem",
    )
    long_run: LongRunSection | None = Field(default=None, description="one run per method far beyond the horizon")
    targets: Targets | None = Field(default=None, description="target errors for which the step size is sought")


# ---- runs on many bodies ----


class Film(StrictModel):
    """one short run of a scene whose motion is kept, for pictures"""

    method: str = Field(description="key of the method")
    dt: Positive = Field(description="step size, s")
    horizon: Positive = Field(description="time simulated, s")
    frames: Count = Field(description="number of pictures after the first")

    @model_validator(mode="after")
    def _of_a_step_or_more(self) -> Self:
        if self.dt >= self.horizon:
            raise _refusal(f": dt = {shown(self.dt)} is not below horizon = {shown(self.horizon)}")
        return self


class SceneSection(StrictModel):
    """a name of your own, and the runs of many bodies under it; null leaves them out"""

    scene: str | None = Field(default=None, description="key of the scene; by default the name of this entry")
    spin: Annotated[float, Field(ge=0)] | None = Field(
        default=None, description="angular velocity of every clump at the start, rad/s; by default that of the scene"
    )
    methods: AllOrAtLeastOne = Field(
        default="all", description='the word "all" (every method with one torque in a step) or a list of method keys'
    )
    horizon: Positive = Field(description="time simulated, s; a run ends with the last whole step before it")
    dt: Sets = Field(description="named sets of step sizes; null leaves one out")
    seeds: Count = Field(description="number of initial states; every method and step size starts from the same ones")
    samples: Count = Field(description="maximum number of samples of the energy of a run")
    over_time: bool = Field(default=False, description="keep the energy along each run; needs exactly one step size")
    timed: AllOrSome = Field(
        default="all",
        description="methods of which a step of the scene is timed, beside those of plug-ins, if the study has a cost: the "
        'word "all" (its methods) or a list of method keys; an empty one leaves the scene out of the timing',
    )
    film: Film | None = Field(default=None, description="one short run whose motion is kept, for pictures")


SceneName = Annotated[
    str,
    Field(
        pattern=r"^(?!none$)[a-z][a-z0-9_]*$",
        description='the name of a scene is made of lower-case letters, digits and _, begins with a letter, and is not "none"',
    ),
]


# ---- ensembles of random bodies ----


class EnsembleSteps(StrictModel):
    """step sizes in radians, that is, the initial angular velocity times dt, each half of the one before"""

    coarse: Positive = Field(description="the coarsest step size, radians; it divides every time in radians")
    halvings: Annotated[int, Field(ge=0, le=40), BeforeValidator(_whole)] = Field(
        description="how often it is halved; there is one step size more"
    )


class Ensembles(StrictModel):
    """every method on random bodies under torques of every class; everything is dimensionless"""

    bodies: Count = Field(description="number of bodies, the same for every method, class and step size")
    seed: Annotated[int, Field(ge=0), BeforeValidator(_whole)] = Field(
        default=0, description="seed of the draw; the first bodies do not depend on the number of bodies"
    )
    classes: AllOrAtLeastOne = Field(default="all", description='the word "all" or a list of torque classes')
    methods: AllOrAtLeastOne = Field(
        default="all", description='the word "all" (every method of the study) or a list of method keys'
    )
    steps: EnsembleSteps = Field(description="the step sizes")
    radians: Annotated[
        tuple[Positive, ...],
        Field(strict=False, min_length=1, json_schema_extra={"uniqueItems": True}),
        AfterValidator(_each_once),
        AfterValidator(lambda times: tuple(sorted(times))),
    ] = Field(
        description="times at which errors are taken, in radians turned at the initial angular velocity; runs end at the last"
    )

    @model_validator(mode="after")
    def _whole_steps(self) -> Self:
        for time in self.radians:
            if time / self.steps.coarse % 1:
                raise _refusal(
                    f": radians: {shown(time)} is not a whole number of the coarsest steps of {shown(self.steps.coarse)}"
                )
        return self


# ---- the whole configuration ----


class Cost(StrictModel):
    """the timing of a step, and the target errors and prices of the torque for the time to solution"""

    rounds: Count = Field(description="how often each method is timed in each form")
    block: Positive = Field(description="minimum CPU time of one timed block of steps, s")
    target_errors: Annotated[Errors, AfterValidator(lambda errors: tuple(sorted(errors, reverse=True)))] = Field(
        description="errors for which the time to solution is given"
    )
    torque_prices: Annotated[TorquePrices, AfterValidator(lambda prices: tuple(sorted(prices)))] = Field(
        description="prices of one evaluation of the torque, in steps of direct Euler"
    )


class Limits(StrictModel):
    """the resources that a study may use"""

    cpu_hours: Positive | None = Field(description="CPU time of the whole study, h")
    memory_gib: Positive | None = Field(description="memory of its largest job, GiB")
    disk_gib: Positive | None = Field(description="its output on the disk, GiB")
    files: Positive | None = Field(description="number of runs of all methods and step sizes")


class Configuration(StrictModel):
    """The keys of config.yaml. Unknown keys are errors, so that a misspelt one is never ignored."""

    results: Annotated[str, Field(min_length=1)] = Field(description="folder for all output of a run")
    digits: Annotated[int, Field(ge=20, le=1000), BeforeValidator(_whole)] = Field(
        description="decimal digits of the reference solutions"
    )
    plugins: Texts = Field(
        description="Python files with your own methods, problems and scenes; paths are relative to the configuration file "
        "that names them, or to the Snakefile"
    )
    methods: AllOrAtLeastOne = Field(description='the word "all" or a list of method keys')
    further: Literal["released", "computed"] = Field(
        description='experiments beyond the sources: "released" takes them from data/released/full and computes a witness of '
        'each, "computed" runs all of them'
    )
    checks: AllOrSome = Field(
        description='experiments on single methods: the word "all" or a list of names, which may be empty'
    )
    notebooks: AllOrSome = Field(
        description='notebooks executed over the results: the word "all" or a list of names, which may be empty'
    )
    cost: Cost | None = Field(description="the time of a step, and the time to target errors; null leaves them out")
    limits: Limits = Field(
        description="a study that would exceed one is refused before anything is run, naming the section that takes most; "
        "null for no limit"
    )
    problems: Annotated[dict[str, ProblemSection | None], Field(min_length=1), _some_left("every one")] = Field(
        description="the runs on each problem; null leaves a problem out"
    )
    many_body: dict[SceneName, SceneSection | None] | None = Field(
        description="energy of many clumps in a box; null leaves it out, and null for a scene leaves out that one"
    )
    ensembles: Ensembles | None = Field(
        description="errors on random bodies under torques of every class; null leaves them out"
    )
