"""Everything started and held, for `test_leaves_nothing_behind` to interrupt; not collected by itself."""

import signal
from pathlib import Path

from broker import Broker
from cluster import Cluster
from submitted import running_pipeline


def test_holds_everything(cluster: Cluster, broker: Broker, tmp_path: Path) -> None:
    with running_pipeline(cluster, broker, tmp_path, {}):
        print("held", flush=True)
        signal.pause()
