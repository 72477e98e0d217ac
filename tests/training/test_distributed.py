import json
import subprocess
import sys

import torch
import yaml
from safetensors.torch import load_file

from forensegm.training import read_log

WORKER = """
import json
import sys
from pathlib import Path

import torch
import yaml
from accelerate.state import PartialState

from forensegm.config import Config
from forensegm.training import train

torch.set_num_threads(1)
folder = Path(sys.argv[1])
result = train(Config.from_dict(yaml.safe_load((folder / "config.yaml").read_text())))
state = PartialState()
found = {"processes": state.num_processes, "epochs": len(result.history), "best": result.best["epoch"]}
(folder / f"rank{state.process_index}.json").write_text(json.dumps(found))
state.destroy_process_group()
"""


def test_two_processes_share_the_work_of_one_run(make_config, tmp_path):
    config = make_config(**{"data.batch_size": 2, "optim.ema": 0.0})
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(config.to_dict()))
    (tmp_path / "worker.py").write_text(WORKER)
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2"]
    done = subprocess.run(
        [*command, str(tmp_path / "worker.py"), str(tmp_path)], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    # A file per process: torchrun's workers write to stdout unbuffered, so that their lines may run into each other.
    found = [json.loads((tmp_path / f"rank{rank}.json").read_text()) for rank in (0, 1)]
    assert found[0] == found[1]
    assert (found[0]["processes"], found[0]["epochs"]) == (2, 2)
    steps = [row["step"] for row in read_log(tmp_path / "run" / "log.jsonl") if "train/loss" in row]
    assert steps == [1, 2, 3, 4]
    (state,) = (tmp_path / "run" / "last").glob("*.safetensors")
    assert all(torch.isfinite(value).all() for value in load_file(state).values())
