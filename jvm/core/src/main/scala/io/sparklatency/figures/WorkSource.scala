package io.sparklatency.figures

import io.sparklatency.time.ClockOffset

/** What the driver knows of the batch in progress beside what running tasks report. Thread-safe. */
trait WorkSource {

  /** What the ended tasks of one planning of a node have brought and nobody has taken. Looks at each partition. */
  def readings(planning: Long): Iterable[Reading]

  /** How far an executor's clock is off; none where that is unknown. */
  def offset(executor: String): Option[ClockOffset]
}

object WorkSource {

  /** Of a process that is no driver. */
  object Nothing extends WorkSource {
    override def readings(planning: Long): Iterable[Reading] = Nil
    override def offset(executor: String): Option[ClockOffset] = None
  }
}
