package org.apache.spark.sql.latency.compat

import org.apache.spark.sql.execution.streaming.checkpointing

/** What a batch logs beside its offsets, which has one form only. An alias, which costs nothing. */
trait OffsetMetadata {
  type OffsetSeqMetadataBase = checkpointing.OffsetSeqMetadata
}
