package io.sparklatency.recording

/**
 * How HdrHistogram lays out its buckets: values below 2^bits+1^ have one each, above them one holds at most 1/2^bits^ of the
 * value. A bucket lies within one bucket of a layout with fewer bits. Functions, so that compiled code has their constants.
 */
private[sparklatency] object BucketLayout {

  /** Of all that a Long can hold. */
  def size(bits: Int): Int = bucketOf(Long.MaxValue, bits) + 1

  def bucketOf(ms: Long, bits: Int): Int = {
    val shift = 63 - bits - java.lang.Long.numberOfLeadingZeros(ms | ((2L << bits) - 1))
    (shift << bits) + (ms >>> shift).toInt
  }

  /** The smallest number of milliseconds in a bucket: the inverse of [[bucketOf]]. */
  def lowestOf(bucket: Int, bits: Int): Long = {
    val shift = shiftOf(bucket, bits)
    (bucket - (shift << bits)).toLong << shift
  }

  /** The greatest number of milliseconds in a bucket. */
  def highestOf(bucket: Int, bits: Int): Long = lowestOf(bucket, bits) + ((1L << shiftOf(bucket, bits)) - 1)

  def middleOf(bucket: Int, bits: Int): Long = lowestOf(bucket, bits) + ((1L << shiftOf(bucket, bits)) >>> 1)

  private def shiftOf(bucket: Int, bits: Int) = math.max((bucket >>> bits) - 1, 0)
}
