"""One safetensors file with a JSON header: what data sets, models and checkpoints are stored in.

Format: github.com/huggingface/safetensors. Its metadata has the single entry `hstar`, a JSON object: `kind`
and `version` of what is stored, `header` (plain data), and `digest`, SHA-256 over all of it.

Invariants: reading runs no code from the file; a file that was cut, overwritten or is of another kind is an
`InputError` of one line; the same content gives the same bytes; a file is replaced as a whole or not at all.
Torch is not needed, and NumPy for files with tensors alone.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from hstar.errors import InputError
from hstar.files import opened, read_bytes, replace_file

if TYPE_CHECKING:
    import numpy.typing as npt

Tensors: TypeAlias = "dict[str, npt.NDArray[Any]]"

MOST_HEADER = 100_000_000  # bytes, as the format has it
_FOREIGN = (ValueError, KeyError, TypeError, RecursionError)  # what a foreign header may raise


def write(
    path: Path,
    kind: str,
    version: int,
    header: Mapping[str, Any],
    tensors: Mapping[str, npt.NDArray[Any]],
    *,
    durable: bool = True,
) -> None:
    """Replaces the file. Unless `durable`, it survives a kill but perhaps not a power cut."""
    import numpy as np
    from safetensors.numpy import save as serialize

    plain = {name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()}
    text = json.dumps(header, sort_keys=True, allow_nan=False)
    digest = _digest(kind, version, text, plain)
    entry = {"kind": kind, "version": version, "header": text, "digest": digest}
    data = serialize(plain, metadata={"hstar": json.dumps(entry, sort_keys=True)})
    try:
        replace_file(path, data, durable=durable)
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror}", file=path) from None


def check_not_pddl(path: Path, command: str) -> None:
    """An `InputError` for PDDL where labelled states are expected; `command` makes them."""
    if path.suffix == ".pddl":
        how = f"{command} makes them, and hstar train takes a folder of problems, too"
        raise InputError(f"is PDDL, and not a file of labelled states; {how}", file=path)


def read(path: Path, kind: str, version: int, oldest: int = 1) -> tuple[dict[str, Any], Tensors]:
    """Header and tensors of a file of this kind, up to this version and not older than the oldest."""
    try:
        entry = _entry(path)
    except _FOREIGN:
        raise InputError(f"not a {kind} of hstar, or damaged", file=path) from None
    if entry.get("kind") != kind:
        raise InputError(f"a {entry.get('kind')} of hstar, expected a {kind}", file=path)
    found = entry.get("version")
    if isinstance(found, int) and found > version:
        raise InputError(
            f"{kind} of format {found}, this hstar knows up to {version}: use a newer hstar", file=path
        )
    if isinstance(found, int) and found < oldest:
        raise InputError(
            f"{kind} of the old format {found}, this hstar reads {oldest} and later: make it anew", file=path
        )
    try:
        tensors = _tensors(read_bytes(path, streams=False))
    except _FOREIGN:
        raise InputError(f"not a {kind} of hstar, or damaged", file=path) from None
    try:
        text = entry["header"]
        if entry["digest"] != _digest(kind, found, text, tensors):
            raise ValueError
        header = json.loads(text)
        if not isinstance(header, dict):
            raise ValueError
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise InputError(f"damaged {kind}: the content does not match its checksum", file=path) from None
    return header, tensors


def kind(path: Path) -> str | None:
    """What a file is; None if it is no file of hstar."""
    try:
        found = _entry(path).get("kind")
    except (InputError, *_FOREIGN):
        return None
    return found if isinstance(found, str) else None


def _entry(path: Path) -> dict[str, Any]:
    """The metadata of hstar, from the JSON that follows the eight bytes of its length; no more is read."""
    with opened(path) as file:
        length = int.from_bytes(file.read(8), "little")
        text = file.read(length) if length <= MOST_HEADER else b""
    entry = json.loads(json.loads(text)["__metadata__"]["hstar"])
    if not isinstance(entry, dict):
        raise ValueError("no entry")
    return entry


def _tensors(content: bytes) -> Tensors:
    """The tensors of a file, whose sizes must be those of the file; a `ValueError` if they are not."""
    end = 8 + int.from_bytes(content[:8], "little")
    if end == len(content) and set(json.loads(content[8:end])) == {"__metadata__"}:
        return {}
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        return load(content)
    except SafetensorError:
        raise ValueError("damaged") from None


def _digest(kind: str, version: Any, header: str, tensors: Mapping[str, npt.NDArray[Any]]) -> str:
    digest = hashlib.sha256(f"{kind} {version}\n{header}".encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        digest.update(f"\n{name} {tensor.dtype.name} {tensor.shape}\n".encode())
        digest.update(tensor.astype(tensor.dtype.newbyteorder("<"), copy=False).tobytes())
    return digest.hexdigest()
