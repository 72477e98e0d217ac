"""The editors by name. A label space names them in this order unless a configuration lists its own.

An editor of your own is a function of one `EditTask` that returns an `EditorOutput`. Name it "pkg.mod:fn" wherever a
built-in editor is named. Wrap it in an `Editor` where its kinds or its composition differ from the default, or where it
has a model to load. A further diffusion model is a `Row` of `diffusion/table.py`.
"""

from __future__ import annotations

from forensegm.edits.editors.autoencoded import AUTOENCODER
from forensegm.edits.editors.base import Composite, EditFunction, Editor, EditorOutput, EditTask, Kind, Region
from forensegm.edits.editors.diffusion import ABSENT, diffusion_editors
from forensegm.edits.editors.offline import clone, degrade, fill
from forensegm.lookup import lookup

OFFLINE: dict[str, Editor] = {
    "telea": Editor(fill.telea, kinds=("remove",)),
    "navier_stokes": Editor(fill.navier_stokes, kinds=("remove",)),
    "poisson_splice": Editor(clone.poisson_splice, kinds=("add",), needs_donor=True),
    "copy_move": Editor(clone.copy_move, kinds=("add", "remove")),
    "resample": Editor(degrade.resample, kinds=("change",)),
    "biharmonic": Editor(fill.biharmonic, kinds=("remove",)),
    "recompress": Editor(degrade.recompress, kinds=("change",)),
}
EDITORS: dict[str, Editor] = {**OFFLINE, "autoencoder": AUTOENCODER, **diffusion_editors()}


def find_editor(name: str | EditFunction | Editor) -> Editor:
    """Return the editor that the user names: a name of `EDITORS`, "pkg.mod:fn", or the function or `Editor` itself.

    Raises:
        ValueError: an unknown name, one that cannot be offered, or a "pkg.mod:fn" that cannot be imported.
    """
    if isinstance(name, str) and name in ABSENT:
        raise ValueError(f"Expected an editor that can be used, got '{name}': {ABSENT[name]}.")
    table: dict[str, EditFunction] = dict(EDITORS)
    part = lookup(table, name, what="editor", trusted=True)
    return part if isinstance(part, Editor) else Editor(part)


__all__ = [
    "EDITORS",
    "OFFLINE",
    "Composite",
    "EditFunction",
    "EditTask",
    "Editor",
    "EditorOutput",
    "Kind",
    "Region",
    "find_editor",
]
