"""How old is a record at each step of a Spark pipeline, and which step made it so?

>>> from pyspark.sql import SparkSession
>>> from sparklatency import configure, latency, with_e2e_latency
>>> spark = configure(SparkSession.builder).getOrCreate()  # doctest: +SKIP
>>> df = with_e2e_latency(df, "source", "timestamp")  # doctest: +SKIP
>>> latency("orders")  # doctest: +SKIP

Importing the package imports neither pyspark nor anything that needs a JVM.
"""

from sparklatency._version import __version__
from sparklatency.binding.jars import jar_path
from sparklatency.binding.marking import with_e2e_latency, with_ingestion_timestamp
from sparklatency.binding.session import configure
from sparklatency.binding.watermarks import with_idle_timeout, with_system_time_watermark
from sparklatency.errors import NoFiguresError, SparkLatencyError
from sparklatency.view import latency

__all__ = [
    "NoFiguresError",
    "SparkLatencyError",
    "__version__",
    "configure",
    "jar_path",
    "latency",
    "with_e2e_latency",
    "with_idle_timeout",
    "with_ingestion_timestamp",
    "with_system_time_watermark",
]
