import subprocess
import sys

import torch
import yaml
from safetensors.torch import load_file

from forensegm.training import read_log

WORKER = """
import sys
import torch
from accelerate.state import PartialState
from forensegm.config import Config
from forensegm.training import train
import yaml

torch.set_num_threads(1)
config = Config.from_dict(yaml.safe_load(open(sys.argv[1])))
result = train(config)
print("processes", PartialState().num_processes, "rank", PartialState().process_index, "epochs", len(result.history))
PartialState().destroy_process_group()
"""


def test_two_processes_share_the_work_of_one_run(make_config, tmp_path):
    config = make_config(**{"data.batch_size": 2, "optim.ema": 0.0})
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(config.to_dict()))
    (tmp_path / "worker.py").write_text(WORKER)
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2"]
    done = subprocess.run(
        [*command, str(tmp_path / "worker.py"), str(tmp_path / "config.yaml")],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == [
        "processes 2 rank 0 epochs 2",
        "processes 2 rank 1 epochs 2",
    ]
    steps = [row["step"] for row in read_log(tmp_path / "run" / "log.jsonl") if "train/loss" in row]
    assert steps == [1, 2, 3, 4]
    (state,) = (tmp_path / "run" / "last").glob("*.safetensors")
    assert all(torch.isfinite(value).all() for value in load_file(state).values())
