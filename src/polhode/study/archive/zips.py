"""Zip archives whose bytes depend only on their contents, and safe opening of archives from elsewhere."""

import hashlib
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath

from polhode.study.provenance import Unusable
from polhode.study.storage import write_atomically, write_text

#: Checksums of all files in an archive, in the format of ``sha256sum --check``; suffix of the archive's own checksum file.
CHECKSUMS, SIDECAR = "manifest-sha256.txt", ".sha256"
#: Maximum unpacked size of an archive, bytes; the study at published scale, with all single runs, has a tenth of it.
LARGEST = 50_000_000_000
#: Date and time of an archive entry.
Moment = tuple[int, int, int, int, int, int]


def write_zip(path: Path, files: Mapping[str, Path | bytes], when: Moment, done: Callable[[], object] = lambda: None) -> str:
    """Write files under their names, sorted, with their checksums, and next to the zip its own checksum, which is returned.

    ``when`` is the date of every entry, so that the same files make the same bytes; ``done`` is called after each file.
    """
    digests: dict[str, str] = {}

    def save(temporary: Path) -> None:
        with zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            for name in sorted(files):
                source = files[name]
                content = source if isinstance(source, bytes) else source.read_bytes()
                digests[name] = hashlib.sha256(content).hexdigest()
                _add(archive, name, content, when, isinstance(source, Path) and bool(source.stat().st_mode & 0o100))
                done()
            listing = "".join(f"{digest}  {name}\n" for name, digest in digests.items())
            _add(archive, CHECKSUMS, listing.encode(), when)

    write_atomically(path, save)
    with open(path, "rb") as opened:
        whole = hashlib.file_digest(opened, "sha256").hexdigest()
    write_text(path.with_name(path.name + SIDECAR), f"{whole}  {path.name}\n")
    return whole


def _add(archive: zipfile.ZipFile, name: str, content: bytes, when: Moment, executable: bool = False) -> None:
    entry = zipfile.ZipInfo(name, when)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.create_system = 3  # marked as Unix on every system
    entry.external_attr = (0o100755 if executable else 0o100644) << 16
    archive.writestr(entry, content, compresslevel=9)


def contents_of(path: Path) -> list[str]:
    """The names of the files in a zip.

    Raises
    ------
    Unusable
        If it is not a zip, or if a name in it points outside the folder where it is unpacked.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            entries = [entry for entry in archive.infolist() if not entry.is_dir()]
    except (zipfile.BadZipFile, OSError, NotImplementedError, UnicodeDecodeError) as error:
        raise Unusable(f"{path} is not a whole zip archive ({error}); fetch it again") from error
    names, size = [entry.filename for entry in entries], sum(entry.file_size for entry in entries)
    distrust = "nothing was unpacked; do not trust this file"
    for name in names:
        parts = PurePosixPath(name).parts
        if name.startswith("/") or "\\" in name or ":" in parts[0] or ".." in parts:
            raise Unusable(
                f"{path} holds the name {name!r}, which leads out of its folder; nothing was unpacked, do not trust it"
            )
    if size > LARGEST:
        raise Unusable(f"{path} would unpack to {size / 1e9:.3g} GB; {distrust}")
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise Unusable(f"{path} contains {twice!r} twice; {distrust}")
    return names


def extracted(path: Path, names: list[str], folder: Path) -> dict[str, str]:
    """Unpack ``names`` (of :func:`contents_of`) into ``folder``; returns the files that cannot be read, with the reason."""
    broken = {}
    with zipfile.ZipFile(path) as archive:
        for name in names:
            target = folder / name
            try:
                content = archive.read(name)
            except (zipfile.BadZipFile, zlib.error, OSError, EOFError, RuntimeError, NotImplementedError) as error:
                broken[name] = str(error)
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
    return broken
