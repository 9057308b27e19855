package io.sparklatency.figures

/** What Spark's progress calls the phases of a batch. */
object Phase {
  val LatestOffset = "latestOffset"
  val GetBatch = "getBatch"
  val QueryPlanning = "queryPlanning"
  val WalCommit = "walCommit"
  val AddBatch = "addBatch"
  val CommitOffsets = "commitOffsets"

  /** In their order. */
  val all: Seq[String] = Seq(LatestOffset, GetBatch, QueryPlanning, WalCommit, AddBatch, CommitOffsets)

  /** All of them, and what is between them. */
  val Whole = "triggerExecution"
}
