"""Zip archives whose bytes depend only on their contents, and safe opening of archives from elsewhere."""

import hashlib
import shutil
import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath

from polhode.interface.arguments import shown
from polhode.interface.storage import write_atomically, write_text
from polhode_study.provenance import Unusable

#: Checksums of all files in an archive, in the format of ``sha256sum --check``; suffix of the archive's own checksum file.
CHECKSUMS, SIDECAR = "manifest-sha256.txt", ".sha256"
#: Maximum unpacked size of an archive, bytes; the study at published scale, with all single runs, has a tenth of it.
LARGEST = 50_000_000_000
#: Maximum number of files in an archive; the study at published scale has a tenth of it.
MOST = 500_000
#: How many times its size an archive may unpack to, if this is more than ``SMALL`` bytes: data shrinks ten times, a bomb a
#: thousand.
EXPANSION, SMALL = 100, 100_000_000
#: Compressions that need no more memory than a buffer.
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
#: What reading a damaged archive may raise.
UNREADABLE = (zipfile.BadZipFile, zlib.error, OSError, EOFError, RuntimeError, NotImplementedError, ValueError, struct.error)
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
    """The names of the files in a zip that can be unpacked safely.

    Raises
    ------
    Unusable
        If it is not a zip; if a name in it points outside the folder where it is unpacked, occurs twice, cannot be a file's, or
        is also that of a folder; if it holds too much, or is encrypted or compressed by anything but deflate.
    """
    if not path.is_file():
        raise Unusable(f"{path} is {'a folder' if path.is_dir() else 'no regular file'}; name a zip archive")
    try:
        with zipfile.ZipFile(path) as archive:
            entries = [entry for entry in archive.infolist() if not entry.filename.endswith("/")]
    except UNREADABLE as error:
        raise Unusable(f"{path} is not a whole zip archive ({error}); fetch it again") from error
    size = sum(entry.file_size for entry in entries)
    distrust = "nothing was unpacked; do not trust this file"
    if len(entries) > MOST:
        raise Unusable(f"{path} holds {len(entries)} files; {distrust}")
    if size > LARGEST:
        raise Unusable(f"{path} would unpack to {size / 1e9:.3g} GB; {distrust}")
    if size > SMALL and size > EXPANSION * path.stat().st_size:
        raise Unusable(f"{path} would unpack to {size / path.stat().st_size:.0f} times its size; {distrust}")
    names: dict[str, None] = {}
    for entry in entries:
        name = entry.filename
        if why := _unfit(name):
            raise Unusable(f"{path} holds the name {shown(name)}, which {why}; {distrust}")
        if name in names:
            raise Unusable(f"{path} contains {shown(name)} twice; {distrust}")
        if entry.flag_bits & 1:
            raise Unusable(f"{path} is encrypted ({shown(name)}); {distrust}")
        if entry.compress_type not in METHODS:
            raise Unusable(f"{path} holds {shown(name)} in a compression other than deflate; {distrust}")
        names[name] = None
    for name in names:
        for folder in PurePosixPath(name).parents:
            if str(folder) in names:
                raise Unusable(f"{path} holds {shown(str(folder))} as a file and as a folder; {distrust}")
    return list(names)


def _unfit(name: str) -> str:
    """Why a name in an archive cannot be unpacked; empty if it can."""
    parts = PurePosixPath(name).parts
    if name.startswith("/") or "\\" in name or ".." in parts or (parts and ":" in parts[0]):
        return "leads out of its folder"
    if not parts or str(PurePosixPath(name)) != name or not name.isprintable():
        return "is not the name of a file"
    if len(name.encode(errors="replace")) > 1000 or any(len(part.encode(errors="replace")) > 250 for part in parts):
        return "is too long"
    return ""


def moment_of(path: Path) -> Moment:
    """The date of the entries of a zip that :func:`contents_of` takes."""
    with zipfile.ZipFile(path) as archive:
        return min(entry.date_time for entry in archive.infolist())


def content_of(path: Path, name: str, most: int) -> bytes:
    """The content of one file of a zip, if it has at most ``most`` bytes.

    Raises
    ------
    Unusable
        If there is no such file in it, or if it is larger.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            size = archive.getinfo(name).file_size
            if size <= most:
                return archive.read(name)
    except (*UNREADABLE, KeyError) as error:
        raise Unusable(f"{path}: {name} cannot be read ({error}); fetch it again") from error
    raise Unusable(f"{path} holds {name} with {size / 1e6:.0f} MB, more than it can have; do not trust this file")


def extracted(path: Path, names: list[str], folder: Path) -> dict[str, str]:
    """Unpack ``names`` (of :func:`contents_of`) into ``folder``; returns the files that cannot be read, with the reason.

    Raises
    ------
    Unusable
        If the disk has no room for them.
    """
    broken = {}
    with zipfile.ZipFile(path) as archive:
        folder.mkdir(parents=True, exist_ok=True)
        size, free = sum(archive.getinfo(name).file_size for name in names), shutil.disk_usage(folder).free
        if size > free:
            raise Unusable(f"{path} would unpack to {size / 1e9:.3g} GB, and {folder} has room for {free / 1e9:.3g} GB")
        for name in names:
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            try:
                with archive.open(name) as source, open(target, "wb") as sink:
                    shutil.copyfileobj(source, sink, 1 << 20)
            except UNREADABLE as error:
                target.unlink(missing_ok=True)
                broken[name] = str(error)
    return broken
