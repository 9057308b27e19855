package org.apache.spark.sql.latency.tracking

import io.sparklatency.figures.Reading
import io.sparklatency.figures.WorkSource
import io.sparklatency.time.ClockOffset
import org.apache.spark.sql.latency.recording.LatencyAccumulator
import org.apache.spark.util.AccumulatorContext

/**
 * What the ended tasks of the batch in progress have brought, in the accumulators of its marks. Keeps none: Spark forgets an accumulator
 * when its plan is gone. For any thread. A call copies a reference for each partition.
 *
 * @param compared how far an executor's clock is off
 */
private[latency] final class ReadingsOnDriver(compared: String => Option[ClockOffset]) extends WorkSource {
  override def readings(planning: Long): Iterable[Reading] =
    AccumulatorContext.get(planning).collect { case figures: LatencyAccumulator => figures.peek }
      .getOrElse(Nil)

  override def offset(executor: String): Option[ClockOffset] = compared(executor)
}
