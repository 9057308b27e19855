package org.apache.spark.sql.latency

import io.sparklatency.recording.NewerFormatException

/**
 * The versions of [[SparkListenerLatencyBatch]]. Event logs outlive the jar that wrote them, and a History Server may have
 * another jar than the application had.
 *
 *   - Version 1: summaries are in the format 0 of `SummaryFormat`, which names neither itself nor the layout of its buckets.
 *   - Version 2: summaries are in its format 1, which names both.
 *
 * '''A reader reads all older versions''', for ever. An event of each version ever written lies in the tests
 * (`latency-batch-<version>.json`) and must give the same figures for all time.
 *
 * '''A reader refuses a newer version'''. It cannot know what has changed, and wrong figures are worse than none. The History
 * Server skips such batches, says so in its log once for each application, and shows all else.
 *
 * '''What makes a new version''' is a change that an older reader would misread. A new field or a new measure makes none:
 * older readers skip it. A field never gets another JSON type, because then Spark would fail to read the whole log, not only
 * this event. What needs another type needs another name.
 *
 * The check compares two numbers, once for each event that is read, in whichever thread reads it.
 */
object EventVersion {
  val Newest = 2

  def requireKnown(version: Int): Unit =
    if (version > Newest) throw new NewerFormatException("batches", version, Newest)
}
