"""The README of an archive, and its metadata in the terms of data repositories, DataCite and Zenodo."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml


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
| `datacite.json`, `zenodo.json` | metadata for the form of a data repository |
| `manifest-sha256.txt` | checksums: `sha256sum --check manifest-sha256.txt` |

The run ended on {run["ended"]} on {run["processor"]} ({run["family"]}).

To check that it reproduces: in `source/`, `./reproduce` computes everything again, and
`./reproduce verify results --against ARCHIVE.zip` compares the two, value by value.
"""
