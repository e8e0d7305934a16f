"""Machine-readable descriptions of an archive: an RO-Crate (profile Workflow Run Crate), and metadata for repositories."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from polhode.study import artefacts

#: Profiles to which the crate conforms, by the version known to a validator; they are only names, nothing is fetched.
PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": ("Process Run Crate", "0.5"),
    "https://w3id.org/ro/wfrun/workflow/0.5": ("Workflow Run Crate", "0.5"),
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": ("Workflow RO-Crate", "1.0"),
}
#: The version of the crate that goes with these profiles.
VERSION = "1.1"
BIOSCHEMAS = "https://bioschemas.org/profiles/ComputationalWorkflow/1.0-RELEASE"
WORKFLOW = "source/Snakefile"
FORMATS = {
    ".nc": "application/x-netcdf",
    ".csv": "text/csv",
    ".tex": "application/x-tex",
    ".pdf": "application/pdf",
    ".png": "image/png",
    ".gif": "image/gif",
    ".html": "text/html",
    ".ipynb": "application/x-ipynb+json",
    ".json": "application/json",
    ".yaml": "application/yaml",
    ".txt": "text/plain",
    ".md": "text/markdown",
    ".cff": "application/yaml",
}
#: The tools that make the results, with the papers that describe them.
TOOLS = {
    "snakemake": "10.12688/f1000research.29032.2",
    "numba": "10.1145/2833157.2833162",
    "numpy": "10.1038/s41586-020-2649-2",
    "xarray": "10.5334/jors.148",
}


def encoding(name: str) -> str:
    """The media type of a file, from its suffix."""
    return FORMATS.get(Path(name).suffix, "application/octet-stream")


def people(citation: Mapping[str, Any]) -> list[dict[str, str]]:
    """The authors of a CITATION.cff: ``name``, for persons also ``given``, ``family`` and, if there is one, ``orcid``."""
    persons = []
    for author in citation["authors"]:
        given, family = author.get("given-names", ""), author.get("family-names", "")
        person = {"name": author.get("name") or f"{given} {family}".strip()}
        person |= {"given": given, "family": family} if family else {}
        person |= {"orcid": author["orcid"]} if author.get("orcid") else {}
        persons.append(person)
    return persons


def cited(citation: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The works cited in a CITATION.cff."""
    return list(citation.get("references", []))


def read_citation(home: Path) -> dict[str, Any]:
    """The contents of CITATION.cff as a mapping."""
    loaded: dict[str, Any] = yaml.safe_load((home / "CITATION.cff").read_text(encoding="utf-8"))
    return loaded


def rocrate_metadata(
    files: Mapping[str, int], run: Mapping[str, Any], citation: Mapping[str, Any], licence: str, title: str
) -> bytes:
    """The contents of ro-crate-metadata.json for the files of an archive.

    Parameters
    ----------
    files : mapping of names in the archive to sizes in bytes
    run : contents of provenance.json
    citation : CITATION.cff
    licence : identifier of the licence (SPDX)
    title : title of the archive
    """
    from rocrate.model.contextentity import ContextEntity
    from rocrate.rocrate import ROCrate

    crate = ROCrate(version=VERSION)

    def context(key: str, kind: str, /, **properties: Any) -> Any:
        return crate.add(ContextEntity(crate, key, {"@type": kind, **properties}))

    root = crate.root_dataset
    root["name"] = title
    root["description"] = " ".join(str(citation["abstract"]).split())
    root["datePublished"] = run["ended"]
    root["keywords"] = list(citation.get("keywords", []))
    root["version"] = run["version"]
    root["license"] = context(f"https://spdx.org/licenses/{licence}", "CreativeWork", name=licence, identifier=licence)
    root["conformsTo"] = [context(key, "CreativeWork", name=name, version=version) for key, (name, version) in PROFILES.items()]
    authors = []
    for number, person in enumerate(people(citation), 1):
        kind = "Person" if "family" in person else "Organization"
        authors.append(context(person.get("orcid", f"#author-{number}"), kind, name=person["name"]))
    root["author"] = _one_or_all(authors)
    root["publisher"] = authors[0]
    works = []
    for number, work in enumerate(cited(citation), 1):
        names = "; ".join(person["name"] for person in people(work))
        key = f"https://doi.org/{work['doi']}" if work.get("doi") else f"#work-{number}"
        works.append(context(key, "ScholarlyArticle", name=work["title"], creditText=names, datePublished=str(work["year"])))
    root["citation"] = works

    entities = {}
    for name, size in sorted(files.items()):
        artefact = artefacts.kind_of(name.removeprefix("results/")) if name.startswith("results/") else None
        if artefact is not None and artefact.role is artefacts.Role.RUN:
            whole = f"results/{artefact.root}/"
            if whole not in entities:
                entities[whole] = crate.add_dataset(None, whole, properties={"name": artefact.meaning})
            continue
        properties: dict[str, Any] = {"name": Path(name).name, "contentSize": str(size), "encodingFormat": encoding(name)}
        if artefact is not None:
            properties["description"] = artefacts.meaning(name.removeprefix("results/"))
        if name == WORKFLOW:
            workflow = crate.add_workflow(None, name, main=True, lang="snakemake", lang_version=run["versions"]["snakemake"])
            workflow["name"], workflow["version"] = "polhode", run["commit"]
            workflow["license"] = root["license"]
            workflow["url"], workflow["encodingFormat"] = name, "text/x-python"
            workflow["conformsTo"] = context(BIOSCHEMAS, "CreativeWork", name="ComputationalWorkflow", version="1.0-RELEASE")
            entities[name] = workflow
        elif name.startswith("results/") or "/" not in name or name in ("source/config.yaml", "source/requirements.txt"):
            entities[name] = crate.add_file(None, name, properties=properties)
    source = crate.add_dataset(None, "source/", properties={"name": f"source at commit {run['commit']}"})
    source["license"] = root["license"]

    # Input and output of the workflow: first the slots, then the files that fill them.
    slots = {"configuration": "source/config.yaml", "environment": "source/requirements.txt"}
    workflow = entities[WORKFLOW]
    given = []
    for slot, name in slots.items():
        parameter = crate.add_formal_parameter(slot, "File", identifier=f"#{slot}", valueRequired=True)
        workflow.append_to("input", parameter)
        entities[name]["exampleOfWork"] = parameter
        parameter["workExample"] = entities[name]
        given.append(entities[name])
    settings = json.dumps(run["configuration"], sort_keys=True)
    parameter = crate.add_formal_parameter("resolved configuration", "PropertyValue", identifier="#resolved-configuration")
    workflow.append_to("input", parameter)
    value = context("#resolved", "PropertyValue", name="resolved configuration", value=settings)
    value["exampleOfWork"], parameter["workExample"] = parameter, value
    given.append(value)
    made = [entity for name, entity in entities.items() if name.startswith("results/")]
    main = "results/single_body.nc"
    if main in entities:
        parameter = crate.add_formal_parameter("single_body", "File", identifier="#single_body")
        workflow["output"] = parameter
        entities[main]["exampleOfWork"], parameter["workExample"] = parameter, entities[main]

    tools = [
        context(
            f"https://doi.org/{doi}",
            "SoftwareApplication",
            name=name,
            version=run["versions"][name],
            url=f"https://doi.org/{doi}",
        )
        for name, doi in TOOLS.items()
        if name in run["versions"]
    ]
    machine = context(
        "#machine", "PropertyValue", name="machine", value=f"{run['processor']}, {run['cores']} cores, {run['platform']}"
    )
    action = crate.add_action(
        workflow,
        "#run",
        object=[*given, machine],
        result=made,
        properties={
            "@type": "CreateAction",
            "name": f"the study, at commit {run['commit']}",
            "description": f"{'with local changes, ' if run['dirty'] else ''}on {run['processor']}, {run['family']}",
            "startTime": run["started"],
            "endTime": run["ended"],
            "actionStatus": "http://schema.org/CompletedActionStatus",
        },
    )
    workflow["softwareRequirements"] = tools
    root["mentions"] = action
    readme = entities["README.md"]
    readme["about"] = root
    return (json.dumps(crate.metadata.generate(), indent=2, sort_keys=True, ensure_ascii=False) + "\n").encode()


def _one_or_all(values: list[Any]) -> Any:
    """The only value of a list, or the list itself if it has several: JSON-LD does not wrap a single value."""
    return values[0] if len(values) == 1 else values


def datacite(run: Mapping[str, Any], citation: Mapping[str, Any], licence: str, title: str, size: int) -> dict[str, Any]:
    """The metadata of the archive in DataCite terms, for the form of a data repository, which assigns the DOI."""
    return {
        "titles": [{"title": title}],
        "creators": [
            {"name": f"{p['family']}, {p['given']}", "nameType": "Personal", "givenName": p["given"], "familyName": p["family"]}
            if "family" in p
            else {"name": p["name"], "nameType": "Organizational"}
            for p in people(citation)
        ],
        "publicationYear": run["ended"][:4],
        "types": {"resourceTypeGeneral": "Dataset", "resourceType": "data, report and source of a computational study"},
        "subjects": [{"subject": word} for word in citation.get("keywords", [])],
        "descriptions": [{"description": " ".join(str(citation["abstract"]).split()), "descriptionType": "Abstract"}],
        "rightsList": [{"rightsIdentifier": licence, "rightsIdentifierScheme": "SPDX"}],
        "version": f"{run['version']} ({run['commit'][:12]})",
        "language": "en",
        "dates": [{"date": f"{run['started']}/{run['ended']}", "dateType": "Created"}],
        "sizes": [f"{size} bytes"],
        "formats": ["application/zip"],
        "relatedIdentifiers": [
            {"relatedIdentifier": work["doi"], "relatedIdentifierType": "DOI", "relationType": "References"}
            for work in cited(citation)
            if work.get("doi")
        ],
    }


def zenodo(run: Mapping[str, Any], citation: Mapping[str, Any], licence: str, title: str) -> dict[str, Any]:
    """The metadata of the archive in the terms of Zenodo's form, without a DOI, which Zenodo assigns."""
    return {
        "title": title,
        "upload_type": "dataset",
        "description": " ".join(str(citation["abstract"]).split()),
        "creators": [
            {"name": f"{p['family']}, {p['given']}" if "family" in p else p["name"]}
            | ({"orcid": p["orcid"].rsplit("/", 1)[-1]} if "orcid" in p else {})
            for p in people(citation)
        ],
        "keywords": list(citation.get("keywords", [])),
        "license": licence.lower(),
        "access_right": "open",
        "publication_date": run["ended"][:10],
        "version": f"{run['version']} ({run['commit'][:12]})",
        "related_identifiers": [
            {"identifier": work["doi"], "relation": "references", "scheme": "doi"}
            for work in cited(citation)
            if work.get("doi")
        ],
    }


def summary(title: str, run: Mapping[str, Any], citation: Mapping[str, Any], names: Sequence[str]) -> str:
    """The text of an archive's README.md."""
    folders = sorted({name.split("/")[1] for name in names if name.startswith("results/") and name.count("/") > 1})
    return f"""# {title}

{" ".join(str(citation["abstract"]).split())}

| folder or file | contents |
|---|---|
| `results/` | the output: `report.pdf`, `supplement.pdf`, `single_body.nc` and others, and in folders {", ".join(folders)} |
| `source/` | the code at commit {run["commit"]}{", and `local-changes.diff`" if run["dirty"] else ""} |
| `ro-crate-metadata.json` | a machine-readable description of all of this: an RO-Crate, profile Workflow Run Crate |
| `datacite.json`, `zenodo.json` | metadata for the form of a data repository |
| `manifest-sha256.txt` | checksums: `sha256sum --check manifest-sha256.txt` |

The run ended on {run["ended"]} on {run["processor"]} ({run["family"]}).

To check that it reproduces: in `source/`, `./reproduce` computes everything again, and
`./reproduce verify results --against ARCHIVE.zip` compares the two, value by value.
"""
