package io.sparklatency.spark

import io.sparklatency.time.Clock

/** The operating system's clock, so much later. */
final class Shifted(ms: Long) extends Clock {
  override def millis(): Long = System.currentTimeMillis() + ms
  override def readEveryRow: Boolean = true
}
