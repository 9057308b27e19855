package io.sparklatency

/**
 * How HdrHistogram lays out its buckets: values below 2^bits+1^ have one each, above them one holds at most 1/2^bits^ of the
 * value. A bucket lies within one bucket of a layout with fewer bits.
 */
private[sparklatency] final class BucketLayout(val bits: Int) {
  private[this] val exact = (2L << bits) - 1
  private[this] val zeros = 63 - bits

  /** Of all that a Long can hold. */
  def size: Int = bucketOf(Long.MaxValue) + 1

  def bucketOf(ms: Long): Int = {
    val shift = zeros - java.lang.Long.numberOfLeadingZeros(ms | exact)
    (shift << bits) + (ms >>> shift).toInt
  }

  /** The smallest number of milliseconds in a bucket: the inverse of [[bucketOf]]. */
  def lowestOf(bucket: Int): Long = (bucket - (shiftOf(bucket) << bits)).toLong << shiftOf(bucket)

  def middleOf(bucket: Int): Long = lowestOf(bucket) + ((1L << shiftOf(bucket)) >>> 1)

  private def shiftOf(bucket: Int) = math.max((bucket >>> bits) - 1, 0)
}
