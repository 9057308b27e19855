package io.sparklatency.recording

/** A sum of milliseconds that is exact where a Long does not hold it, and cheap where it does. */
private[recording] final class ExactSum {
  import ExactSum._

  private[this] var plain = 0L
  private[this] var rest = BigInt(0) // what `plain` does not hold

  def +=(ms: Long): Unit =
    if (isHalf(plain) && isHalf(ms)) plain += ms
    else {
      rest += BigInt(plain) + ms
      plain = 0
    }

  def +=(many: BigInt): Unit = rest += many

  def total: BigInt = rest + plain

  def clear(): Unit = {
    plain = 0
    rest = 0
  }
}

private object ExactSum {

  /** Two of these are still a Long. */
  private def isHalf(ms: Long) = -HalfOfLong <= ms && ms <= HalfOfLong

  private val HalfOfLong = 1L << 61
}
