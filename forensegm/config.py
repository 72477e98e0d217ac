"""The configuration of a whole run, as dataclasses: YAML files and command line options are made from these.

A part that takes a configuration takes one of these classes, so that every option exists once, with its one help text.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields, is_dataclass
from typing import Any, Literal, Self

Precision = Literal["auto", "fp32", "bf16", "fp16"]


@dataclass
class EditConfig:
    """How multi-turn edits are made.

    Attributes:
        photos: base images, as a folder (searched with its sub-folders) or "kind:location": coco:instances.json, or any
            data set that can be read, whose authentic images are taken; none = only generated ones; empty = those that
            installed packages ship.
        captions: file of captions to generate base images from: one a line, or COCO's captions JSON.
        generators: editors whose text-to-image model makes base images; all their pixels carry the generator's label.
        generated_share: share of images that begin from a generated one, 0..1.
        out: folder the data set is written to; it must be empty, absent or a build of the same settings.
        images: number of images to build, authentic ones included.
        size: side of the square crop in pixels, cut at native resolution; smaller photographs are left out. 0 = whole
            images.
        authentic_share: share of images that stay authentic, 0..1.
        turns: relative frequency of 1, 2, 3, ... turns among the edited images.
        editors: names of the editors, in label order (mask values 1..K), or "pkg.mod:fn" of your own.
        shares: relative frequency of each editor; those not named have 1. Empty = all alike.
        planner: who decides what is edited: rules, vlm (a vision-language model), or "pkg.mod:fn".
        regions: what proposes regions, drawn from at random: superpixels, grabcut, shapes, objects (annotated ones),
            grounded_sam, or "pkg.mod:fn".
        region_area: smallest and largest share of the image that one turn edits.
        composite: splice (only the region is pasted back), regenerate (the whole frame is the editor's), or empty = as
            each editor does by itself.
        feather: width in pixels over which a splice fades in, inside its label; 0 = a hard edge.
        split: share of photographs (never of crops) for train, val and test.
        codec: encoder of every image, authentic or edited: png, jpeg:Q or webp:Q with a quality of 1..100.
        codecs: relative frequency of encoders instead, drawn alike for authentic and edited images, for example
            {png: 1, "jpeg:70..95": 3}; a range is drawn evenly.
        intermediates: whether to write the image after each turn as well.
        min_share_changed: share of the region that a turn has to change, 0..1, to be accepted.
        min_mean_change: mean change in the region, in grey levels, that it has to reach.
        min_agreement: overlap (IoU) that the clearly changed pixels and the region have to reach, 0..1.
        max_outside: mean change outside the region, in grey levels, that a regenerated frame may have; 255 = any.
        quality_check: whether a vision-language model scores every edit; options vlm, for example {min_score: 5}.
        retries: further tries of a turn that is not accepted, each with another region and seed.
        stop_after: failed turns in a row (editors that raise) after which the build stops.
        batch: images made side by side; editors that can take several at once are given them together.
        options: of single parts by name, for example {sdxl: {steps: 20, model: my/folder}}.
        device: auto, cpu, cuda, cuda:N or mps, for parts that need a model.
        dtype: auto (bf16 on a GPU, fp32 on a CPU), fp32, bf16 or fp16.
        offload: none, model or sequential: parts of pipelines that wait in main memory.
        max_loaded: most editors of a process in memory at once, the least recently used one makes room; 0 = all. With
            few, a larger `batch` makes up for loading them again. Planner, proposers and quality check stay.
        compile: whether pipelines compile their denoiser.
        local_files_only: whether models must be on this machine already.
        seed: everything drawn follows from it.
        workers: processes; 0 = one per core. The data are the same for any number.
        engine: local, or ray: on a cluster that sees the same `out`.
        shard: "i/n" = build only the i-th of n parts, from 1; whoever builds the last one finishes the data set.
    """

    photos: str = ""
    captions: str = ""
    generators: list[str] = field(default_factory=list)
    generated_share: float = 0.0
    out: str = "runs/data"
    images: int = 640
    size: int = 256
    authentic_share: float = 0.3
    turns: list[float] = field(default_factory=lambda: [0.5, 0.3, 0.2])
    editors: list[str] = field(
        default_factory=lambda: [
            "telea",
            "navier_stokes",
            "poisson_splice",
            "copy_move",
            "resample",
            "biharmonic",
            "recompress",
        ]
    )
    shares: dict[str, float] = field(default_factory=dict)
    planner: str = "rules"
    regions: list[str] = field(default_factory=lambda: ["grabcut", "shapes", "superpixels"])
    region_area: tuple[float, float] = (0.02, 0.2)
    composite: Literal["", "splice", "regenerate"] = ""
    feather: float = 0.0
    split: tuple[float, float, float] = (0.55, 0.15, 0.3)
    codec: str = "png"
    codecs: dict[str, float] = field(default_factory=dict)
    intermediates: bool = False
    min_share_changed: float = 0.05
    min_mean_change: float = 0.5
    min_agreement: float = 0.0
    max_outside: float = 255.0
    quality_check: bool = False
    retries: int = 3
    stop_after: int = 50
    batch: int = 8
    options: dict[str, Any] = field(default_factory=dict)
    device: str = "auto"
    dtype: Literal["auto", "fp32", "bf16", "fp16"] = "auto"
    offload: Literal["none", "model", "sequential"] = "none"
    max_loaded: int = 0
    compile: bool = False
    local_files_only: bool = False
    seed: int = 0
    workers: int = 0
    engine: Literal["local", "ray"] = "local"
    shard: str = ""


@dataclass
class DataConfig:
    """What is read and how it is batched.

    Attributes:
        source: the data set, as "kind:location", for example native:runs/data.
        options: of its reader, for example {mask_kind: ids, labels: 9}; see `forensegm list readers`.
        train_split: split to train on.
        val_split: split that chooses checkpoints and thresholds.
        batch_size: training images per step and process.
        crop: side in pixels of the random training crop; 0 = whole images, padded to the largest of the batch.
        keep_edits: share of training crops that are drawn around an edited pixel, 0..1.
        workers: loader processes; 0 = load in the main process. The items are the same for any number.
        on_error: what to do with an unreadable item: skip (count and name it) or raise.
        regenerated_outside: what training takes the pixels outside the mask for, where an editor redrew the whole
            frame: keep (authentic, as the mask says) or ignore (left out of the loss: changed without being asked).
    """

    source: str = ""
    options: dict[str, Any] = field(default_factory=dict)
    train_split: str = "train"
    val_split: str = "val"
    batch_size: int = 8
    crop: int = 256
    keep_edits: float = 0.5
    workers: int = 0
    on_error: Literal["skip", "raise"] = "skip"
    regenerated_outside: Literal["keep", "ignore"] = "keep"


@dataclass
class ModelConfig:
    """The network.

    Attributes:
        name: "source:name", for example smp:unet/tf_efficientnet_lite0 (see `forensegm list models`).
        weights: initial encoder weights: imagenet, none, or the path of a safetensors / state-dict file.
        frontend: forensic front end whose channels are put beside RGB: none, srm or highpass.
        options: further arguments of the network, as its library calls them, for example {decoder_channels: [128, 64,
            32, 16, 16]} of smp:unet.
    """

    name: str = "smp:unet/tf_efficientnet_lite0"
    weights: str = "imagenet"
    frontend: str = "none"
    options: dict[str, Any] = field(default_factory=dict)


@dataclass
class LossConfig:
    """What is minimized.

    Attributes:
        terms: weight of each loss by name, for example {cross_entropy: 1.0, dice: 0.5}.
        authentic_weight: weight of class 0 in cross-entropy and focal terms; editors have weight 1.
        label_smoothing: label smoothing of the cross-entropy term, 0..1.
    """

    terms: dict[str, float] = field(default_factory=lambda: {"cross_entropy": 1.0, "dice": 0.5})
    authentic_weight: float = 0.5
    label_smoothing: float = 0.0


@dataclass
class OptimConfig:
    """The optimizer (AdamW) and its schedule (linear warm-up, then cosine to zero).

    Attributes:
        lr: peak learning rate of the decoder and the head.
        encoder_lr_factor: learning rate of the encoder, as a factor of `lr`.
        weight_decay: weight decay; biases and normalization parameters have none.
        warmup: share of all steps spent warming up, 0..1.
        clip: largest gradient norm; 0 = no clipping.
        accumulate: batches per step.
        ema: decay of the moving average of the weights that is evaluated and saved; 0 = no average.
    """

    lr: float = 1e-3
    encoder_lr_factor: float = 1.0
    weight_decay: float = 0.01
    warmup: float = 0.05
    clip: float = 1.0
    accumulate: int = 1
    ema: float = 0.99


@dataclass
class AugmentConfig:
    """Training augmentation. Nothing here changes the ground truth except where pixels move with their mask.

    Attributes:
        flip: probability of a horizontal flip, and of a vertical one.
        rotate90: whether to rotate by a random multiple of 90 degrees.
        distort: probability that an image is distorted.
        distortions: chains to draw from, for example "jpeg(60..95)" or "resize(0.5..1)|jpeg(70..95)".
    """

    flip: float = 0.5
    rotate90: bool = True
    distort: float = 0.3
    distortions: list[str] = field(
        default_factory=lambda: [
            "jpeg(50..95)",
            "resize(0.5..1)",
            "blur(0.3..1.5)",
            "noise(1..8)",
            "resize(0.5..1)|jpeg(60..95)",
        ]
    )


@dataclass
class TrainConfig:
    """The training run.

    Attributes:
        out: folder of the run: checkpoint, log.jsonl, config.yaml.
        epochs: passes over the training split.
        precision: auto (bf16 where the hardware computes in it, else fp32), fp32, bf16 or fp16.
        seed: everything drawn follows from it.
        threads: CPU threads; 0 = as torch chooses.
        resume: continue the run in `out` from its last checkpoint.
        metric: validation figure that chooses the kept checkpoint. The default, average precision over pixels, needs no
            threshold: that one is chosen afterwards.
        validate_every: epochs from one validation to the next; the last epoch is always validated.
        max_bad_steps: steps in a row with a non-finite loss after which the run stops.
    """

    out: str = "runs/train"
    epochs: int = 12
    precision: Precision = "auto"
    seed: int = 0
    threads: int = 0
    resume: bool = False
    metric: str = "pixel.binary.ap"
    validate_every: int = 1
    max_bad_steps: int = 10


@dataclass
class TrackConfig:
    """Where the run is tracked; log.jsonl in the run's folder is always written.

    Attributes:
        wandb: auto (online when the user is logged in, else offline), online, offline or off.
        project: wandb project.
        name: wandb run name; empty = the run's folder name.
        overlays: validation images logged as mask overlays.
    """

    wandb: Literal["auto", "online", "offline", "off"] = "auto"
    project: str = "forensegm"
    name: str = ""
    overlays: int = 4


@dataclass
class EvaluateConfig:
    """How a checkpoint is evaluated.

    Attributes:
        split: split to evaluate.
        batch_size: images of one size per forward pass.
        pooling: how an edited-probability map becomes the image's real/fake score: see `forensegm list poolings`.
        bootstrap: resamples for the 95 % intervals.
        seed: seed of the bootstrap and of every distortion.
        on_error: what to do with an unreadable item: skip (count and name it) or raise.
        precision: auto, fp32, bf16 or fp16.
        examples: images kept for the report.
    """

    split: str = "test"
    batch_size: int = 8
    pooling: str = "topk_mean"
    bootstrap: int = 1000
    seed: int = 0
    on_error: Literal["skip", "raise"] = "skip"
    precision: Precision = "auto"
    examples: int = 12


@dataclass
class DistortConfig:
    """The robustness sweep.

    Attributes:
        chains: distortions to evaluate under, for example "jpeg(70)" or "resize(0.5)|jpeg(70)".
    """

    chains: list[str] = field(
        default_factory=lambda: [
            "jpeg(90)",
            "jpeg(70)",
            "jpeg(50)",
            "resize(0.75)",
            "resize(0.5)",
            "blur(1)",
            "blur(2)",
            "noise(4)",
            "noise(8)",
        ]
    )


@dataclass
class PredictConfig:
    """How single images are read out.

    Attributes:
        tile: side in pixels of the tiles of images larger than it; 0 = whole images only.
        overlap: overlap of neighbouring tiles in pixels.
        device: auto, cpu, cuda, cuda:N or mps.
        precision: auto, fp32, bf16 or fp16.
    """

    tile: int = 1024
    overlap: int = 128
    device: str = "auto"
    precision: Precision = "auto"


@dataclass
class Config:
    """A whole run, from edits to predictions.

    Attributes:
        edit: making multi-turn edits.
        data: reading data.
        model: the network.
        loss: the loss.
        optim: the optimizer.
        augment: training augmentation.
        train: the training run.
        track: tracking.
        evaluate: evaluation.
        distort: the robustness sweep.
        predict: prediction.
    """

    edit: EditConfig = field(default_factory=EditConfig)
    data: DataConfig = field(default_factory=DataConfig)
    model: ModelConfig = field(default_factory=ModelConfig)
    loss: LossConfig = field(default_factory=LossConfig)
    optim: OptimConfig = field(default_factory=OptimConfig)
    augment: AugmentConfig = field(default_factory=AugmentConfig)
    train: TrainConfig = field(default_factory=TrainConfig)
    track: TrackConfig = field(default_factory=TrackConfig)
    evaluate: EvaluateConfig = field(default_factory=EvaluateConfig)
    distort: DistortConfig = field(default_factory=DistortConfig)
    predict: PredictConfig = field(default_factory=PredictConfig)

    def to_dict(self) -> dict[str, Any]:
        """Plain nested dict of JSON types, the inverse of `from_dict`."""
        values: dict[str, Any] = plain(self)
        return values

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """Build from a nested dict; parts left out keep their defaults, unknown keys raise ValueError."""
        config = cls()
        for section, options in values.items():
            if section not in {part.name for part in fields(cls)}:
                raise ValueError(f"Expected a section of the configuration, got '{section}'.")
            part = getattr(config, section)
            for key, value in options.items():
                if not hasattr(part, key):
                    raise ValueError(f"Expected an option of '{section}', got '{section}.{key}'.")
                setattr(part, key, tuple(value) if isinstance(getattr(part, key), tuple) else value)
        return config


def plain(value: Any) -> Any:
    """Dataclasses, tuples and lists as nested dicts and lists, ready for JSON and YAML."""
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value
