"""Downloading, checking and unpacking of data sets."""

import bz2
import gzip
import hashlib
import lzma
import os
import pathlib
import shutil
import tarfile
import urllib.error
import urllib.parse
import urllib.request
import zipfile

MIRROR = "MSADAPTER_DATASET_MIRROR"
_BLOCK = 1 << 20
_ALIASES = {".tbz": (".tar", ".bz2"), ".tbz2": (".tar", ".bz2"), ".tgz": (".tar", ".gz")}
_OPENERS = {".bz2": bz2.open, ".gz": gzip.open, ".xz": lzma.open}
_ARCHIVES = (".tar", ".zip")


# --- checking ---------------------------------------------------------------------------------------------------------


def calculate_md5(fpath, chunk_size=_BLOCK):
    """The MD5 of a file, in hexadecimal: against damage, not against malice."""
    digest = hashlib.md5(usedforsecurity=False)
    with open(fpath, "rb") as file:
        while block := file.read(chunk_size):
            digest.update(block)
    return digest.hexdigest()


def check_md5(fpath, md5, **kwargs):
    return md5 == calculate_md5(fpath, **kwargs)


def check_integrity(fpath, md5=None):
    """Whether the file exists, and has that MD5 where one is given."""
    return os.path.isfile(fpath) and (md5 is None or check_md5(fpath, md5))


def verify_str_arg(value, arg=None, valid_values=None, custom_msg=None):
    """`value`, which must be a string, and one of `valid_values`; ValueError otherwise."""
    of_argument = "" if arg is None else f" for argument {arg}"
    if not isinstance(value, str):
        raise ValueError(f"Expected type str{of_argument}, but got type {type(value)}.")
    if valid_values is not None and value not in valid_values:
        choices = iterable_to_str(valid_values)
        raise ValueError(
            custom_msg or f"Unknown value {value!r}{of_argument}. Valid values are {{{choices}}}."
        )
    return value


def iterable_to_str(iterable):
    return "'" + "', '".join(map(str, iterable)) + "'"


# --- downloading ------------------------------------------------------------------------------------------------------


def download_url(url, root, filename=None, md5=None, max_redirect_hops=3):
    """Fetch `url` into the folder `root`, unless the file is there already with its MD5.

    A download that broke off goes on where it stopped. Where the environment variable MSADAPTER_DATASET_MIRROR is set (a
    folder or an address), the file comes from there, by host and path: MIRROR/host/path/file.

    Raises RuntimeError where it cannot be had, or has another MD5; it says which file to put where by hand.
    """
    root = os.path.expanduser(root)
    filename = filename or os.path.basename(urllib.parse.urlparse(url).path)
    path = os.path.join(root, filename)
    if check_integrity(path, md5):
        return
    os.makedirs(root, exist_ok=True)
    source = _mirrored(url)
    by_hand = (
        f"Put the file {filename}{f' (MD5 {md5})' if md5 else ''} into the folder {os.path.abspath(root)} yourself, or set "
        f"{MIRROR} to a folder or address that holds {_place_in_mirror(url)}."
    )
    partial = path + ".part"
    try:
        _fetch(source, partial)
    except (urllib.error.URLError, OSError) as error:
        raise RuntimeError(f"Could not download {source}: {error}. {by_hand}") from error
    if md5 is not None and not check_md5(partial, md5):
        os.remove(partial)
        raise RuntimeError(f"File not found or corrupted: {source} has not the MD5 {md5}. {by_hand}")
    os.replace(partial, path)


def _place_in_mirror(url):
    parts = urllib.parse.urlparse(url)
    return parts.netloc + parts.path


def _mirrored(url):
    mirror = os.environ.get(MIRROR)
    if not mirror:
        return url
    if "://" not in mirror:
        mirror = pathlib.Path(mirror).expanduser().absolute().as_uri()
    return f"{mirror.rstrip('/')}/{_place_in_mirror(url)}"


def _fetch(url, partial):
    """Append what is missing of `url` to the file `partial`."""
    there = os.path.getsize(partial) if os.path.exists(partial) else 0
    headers = {"User-Agent": "msadapter"} | ({"Range": f"bytes={there}-"} if there else {})
    try:
        response = urllib.request.urlopen(urllib.request.Request(url, headers=headers))
    except urllib.error.HTTPError as error:
        if error.code != 416:  # nothing is missing
            raise
        return
    with response:
        resumed = getattr(response, "status", None) == 206
        total = int(response.headers.get("Content-Length") or 0) + (there if resumed else 0)
        with open(partial, "ab" if resumed else "wb") as file, _progress(partial, total) as progress:
            progress.update(there if resumed else 0)
            while block := response.read(_BLOCK):
                file.write(block)
                progress.update(len(block))


def _progress(path, total):
    """A progress bar, where tqdm is installed."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _NoProgress()
    name = os.path.basename(path).removesuffix(".part")
    return tqdm(total=total or None, unit="B", unit_scale=True, desc=name)


class _NoProgress:
    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None

    def update(self, count):
        return None


# --- unpacking --------------------------------------------------------------------------------------------------------


def _kind_of(path):
    """(".tar", ".gz") and its kind: what sort of archive a file is, and how it is compressed, each may be None."""
    suffixes = pathlib.Path(path).suffixes
    if not suffixes:
        raise RuntimeError(
            f"File '{path}' has no suffixes that could be used to detect the archive type and compression."
        )
    last = suffixes[-1]
    if last in _ALIASES:
        return _ALIASES[last]
    if last in _ARCHIVES:
        return last, None
    if last in _OPENERS:
        return (".tar" if suffixes[-2:-1] == [".tar"] else None), last
    known = sorted((*_ALIASES, *_ARCHIVES, *_OPENERS))
    raise RuntimeError(f"Unknown compression or archive type: '{last}'.\nKnown suffixes are: '{known}'.")


def extract_archive(from_path, to_path=None, remove_finished=False):
    """Unpack an archive or a compressed file into the folder `to_path` (its own, by default); return where to.

    Nothing is written outside of that folder, whatever the archive says. Raises RuntimeError for unknown suffixes.
    """
    archive, compression = _kind_of(from_path)
    to_path = os.path.dirname(from_path) if to_path is None else to_path
    if archive == ".tar":
        with tarfile.open(from_path, f"r:{compression[1:]}" if compression else "r") as tar:
            _extract_tar(tar, to_path)
        result = to_path
    elif archive == ".zip":
        with zipfile.ZipFile(from_path) as file:  # takes "..", drives and roots out of the names itself
            file.extractall(to_path)
        result = to_path
    else:
        name = os.path.basename(from_path).removesuffix(compression)
        result = os.path.join(to_path, name)
        os.makedirs(to_path, exist_ok=True)
        with _OPENERS[compression](from_path, "rb") as packed, open(result, "wb") as file:
            shutil.copyfileobj(packed, file, _BLOCK)
    if remove_finished:
        os.remove(from_path)
    return result


def _extract_tar(tar, to_path):
    if hasattr(tarfile, "data_filter"):
        tar.extractall(to_path, filter="data")
        return
    home = os.path.realpath(to_path)
    for member in tar.getmembers():  # the first releases of Python 3.10 have no filter
        target = os.path.realpath(os.path.join(home, member.name))
        if not (member.isfile() or member.isdir()) or os.path.commonpath([home, target]) != home:
            raise RuntimeError(
                f"{member.name!r} in the archive would be written outside of {home}, or is no file"
            )
    tar.extractall(to_path)


def download_and_extract_archive(
    url, download_root, extract_root=None, filename=None, md5=None, remove_finished=False
):
    """`download_url`, then `extract_archive` into `extract_root` (the same folder, by default)."""
    download_root = os.path.expanduser(download_root)
    filename = filename or os.path.basename(urllib.parse.urlparse(url).path)
    download_url(url, download_root, filename, md5)
    extract_archive(os.path.join(download_root, filename), extract_root or download_root, remove_finished)


# --- listing ----------------------------------------------------------------------------------------------------------


def list_dir(root, prefix=False):
    """The folders in `root`, by name or (with `prefix`) by path."""
    return _listed(root, prefix, os.path.isdir)


def list_files(root, suffix, prefix=False):
    """The files in `root` whose names end in `suffix` (or one of several)."""
    return _listed(root, prefix, lambda path: os.path.isfile(path) and path.endswith(suffix))


def _listed(root, prefix, chosen):
    root = os.path.expanduser(root)
    names = [name for name in os.listdir(root) if chosen(os.path.join(root, name))]
    return [os.path.join(root, name) for name in names] if prefix else names
