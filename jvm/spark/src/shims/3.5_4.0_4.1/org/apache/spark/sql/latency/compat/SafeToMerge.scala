package org.apache.spark.sql.latency.compat

/** An operator that keeps nothing of a partition in a field of its own. Before Spark 4.2 nothing asks for that. */
trait SafeToMerge
