"""Tracking to Weights & Biases, quietly and under the run's folder."""

from __future__ import annotations

import importlib
import logging
import netrc
import os
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from forensegm.config import TrackConfig
from forensegm.sample import IGNORE, LabelSpace, Mask
from forensegm.training.tracking import Overlay, Values

logger = logging.getLogger(__name__)

Mode = Literal["online", "offline", "off"]

INIT_SECONDS = 20.0
UPLOAD_SECONDS = 20.0
DEFAULT_HOST = "https://api.wandb.ai"


def new_run_id() -> str:
    """Eight random letters and digits, the form of wandb's own ids. It is not drawn from the run's seed: two runs of
    one configuration are two runs."""
    return secrets.token_hex(4)


def wandb_mode(choice: str, *, environment: Mapping[str, str] = os.environ) -> Mode:
    """What "auto" means here: WANDB_MODE if set, else online for a user who is logged in, else offline.

    Nothing is asked, neither on the network nor of the user.
    """
    if choice != "auto":
        return choice  # type: ignore[return-value]
    asked = environment.get("WANDB_MODE", "").lower()
    if asked in ("offline", "dryrun"):
        return "offline"
    if asked == "disabled":
        return "off"
    return "online" if logged_in(environment=environment) else "offline"


def logged_in(*, environment: Mapping[str, str] = os.environ) -> bool:
    """Whether wandb would find credentials: a key or token file in the environment, or one in the netrc file."""
    if environment.get("WANDB_API_KEY") or environment.get("WANDB_IDENTITY_TOKEN_FILE"):
        return True
    host = urlsplit(environment.get("WANDB_BASE_URL") or DEFAULT_HOST).netloc
    home = Path(environment.get("HOME") or Path.home())
    named = environment.get("NETRC")
    for path in [Path(named)] if named else [home / ".netrc", home / "_netrc"]:
        try:
            entry = netrc.netrc(path).authenticators(host)
        except (OSError, netrc.NetrcParseError):
            continue
        if entry and entry[2]:
            return True
    return False


def overlay_mask(mask: NDArray[Any]) -> tuple[Mask, int]:
    """`mask` as wandb stores one (uint8 HxW), and the number of pixels whose id did not fit and became 255."""
    outside = (mask < 0) | (mask > IGNORE) if mask.dtype != np.bool_ else np.zeros(mask.shape, dtype=np.bool_)
    return np.where(outside, IGNORE, mask).astype(np.uint8), int(outside.sum())


def class_labels(labels: LabelSpace, masks: Sequence[Mask]) -> dict[int, str]:
    """A name for every id of the label space and for every other one in `masks`: wandb drops ids without a name."""
    names = dict(enumerate(labels.names))
    names[IGNORE] = "ignore"
    for value in np.unique(np.concatenate([mask.ravel() for mask in masks])):
        names.setdefault(int(value), f"unknown_{value}")
    return names


class WandbTracker:
    """One wandb run; calls go straight to the library, so wrap it in `Background`.

    The step is a field of its own and the x axis of everything: wandb's internal counter would drop the steps that a
    resumed run does again. Files are under `<out>/wandb`, and nothing is printed.

    Args:
        config: project, name and mode.
        out: the run's folder.
        run_id: the id; a resumed run passes the same one.
        settings: the whole configuration, shown beside the run.

    Raises:
        ImportError: wandb is not installed.
    """

    def __init__(self, config: TrackConfig, *, out: Path, run_id: str, settings: Mapping[str, Any]) -> None:
        """Open the run, offline where it cannot be opened online."""
        self.wandb: Any = importlib.import_module("wandb")
        self.alone = self.wandb.run is None
        if self.alone:
            self.wandb.setup(self.wandb.Settings(silent=True))
        mode = wandb_mode(config.wandb)
        try:
            self.run = self.start(config, out=out, run_id=run_id, settings=settings, mode=mode)
        except Exception as error:
            if mode == "offline":
                raise
            reason = str(error).splitlines()[0]
            logger.warning("wandb could not go online (%s): tracking offline; upload later with wandb sync.", reason)
            self.run = self.start(config, out=out, run_id=run_id, settings=settings, mode="offline")
        self.run.define_metric("step", hidden=True)
        self.run.define_metric("*", step_metric="step")

    def start(self, config: TrackConfig, *, out: Path, run_id: str, settings: Mapping[str, Any], mode: Mode) -> Any:
        """Open the run."""
        options: dict[str, Any] = {"silent": True, "console": "off", "init_timeout": INIT_SECONDS}
        if "finish_timeout" in self.wandb.Settings.model_fields:  # new in 0.2x: it also bounds wandb's own exit hook
            options["finish_timeout"] = UPLOAD_SECONDS
        if not self.alone:  # the caller's own run stays open and apart
            options["reinit"] = "create_new"
        return self.wandb.init(
            project=config.project,
            name=config.name or out.resolve().name,
            dir=str(out),
            mode=mode,
            id=run_id,
            resume="allow",
            config=dict(settings),
            settings=self.wandb.Settings(**options),
        )

    def log(self, step: int, values: Values) -> None:
        """Send scalars; what is undefined (None) is left out."""
        self.run.log({"step": step, **{key: value for key, value in values.items() if value is not None}})

    def overlay(self, step: int, overlays: Sequence[Overlay]) -> None:
        """Send images with the true and the predicted mask as overlays that can be switched on and off."""
        if overlays:
            self.run.log({"step": step, "validation": [self.image(overlay) for overlay in overlays]})

    def image(self, overlay: Overlay) -> Any:
        """One `wandb.Image`."""
        truth, lost = overlay_mask(overlay.truth)
        prediction, lost_too = overlay_mask(overlay.prediction)
        note = f" ({lost + lost_too} pixels with an id above 255 shown as ignored)" if lost + lost_too else ""
        names = class_labels(overlay.labels, [truth, prediction])
        masks = {
            "truth": {"mask_data": truth, "class_labels": names},
            "prediction": {"mask_data": prediction, "class_labels": names},
        }
        return self.wandb.Image(overlay.image, masks=masks, caption=overlay.id + note)

    def finish(self) -> None:
        """Close the run, and end wandb's service process unless the caller had a run of its own before."""
        self.run.finish()
        if self.alone:
            self.wandb.teardown()
