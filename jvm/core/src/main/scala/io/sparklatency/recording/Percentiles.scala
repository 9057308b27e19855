package io.sparklatency.recording

/**
 * Reads percentiles and counts off the buckets of a summary, in one pass for any number of them. It keeps nothing and copies
 * nothing but what it answers.
 *
 * '''Where a figure comes from.''' The percentile p of n records is the value of the record that stands at place ⌈n × p / 100⌉ when
 * all are sorted. The buckets tell in which of them this place lies, and the answer is the highest value that this bucket can hold,
 * kept within the minimum and the maximum of the records, which are exact. The place of the percentile 0 is the first.
 *
 * '''The error bound.''' Below 256 ms each value has a bucket of its own, so there the answer is exact. Above, a bucket spans at
 * most 1/128 of its lowest value, so the answer is never too low and at most 1 % too high. Records ahead of the clock lie in
 * the bucket of 0. HdrHistogram with two digits has the same buckets and gives the same answers, but for the percentile 0, for which
 * it answers with the lowest value of a bucket; tests hold the two together.
 */
private[recording] object Percentiles {

  /**
   * The highest value of the bucket in which each percentile lies.
   *
   * @param encoded by [[BucketCounts.encode]]
   * @param count   of all records in the buckets, at least one
   */
  def at(percents: Seq[Double], encoded: Array[Byte], count: Long): Array[Long] = {
    val places = percents.iterator.map(placeOf(_, count)).toArray
    val found = new Array[Long](places.length)
    val cursor = new BucketCounts.Cursor(encoded)
    var (passed, next) = (0L, 1L) // no place before this one is looked for
    while (next <= count && cursor.next()) {
      val before = passed
      passed += cursor.count
      if (passed >= next) {
        next = Long.MaxValue
        var i = 0
        while (i < places.length) {
          if (places(i) > passed) next = math.min(next, places(i))
          else if (places(i) > before) found(i) = LatencyTally.highestOf(cursor.bucket)
          i += 1
        }
      }
    }
    found
  }

  /** How many records lie in the buckets up to the one that holds each latency; none where the latency is negative. */
  def countsUpTo(latencies: Seq[Long], encoded: Array[Byte]): Array[Long] = {
    val last = latencies.iterator.map(ms => if (ms < 0) -1 else LatencyTally.bucketOf(ms)).toArray
    val counts = new Array[Long](last.length)
    val cursor = new BucketCounts.Cursor(encoded)
    while (cursor.next()) {
      var i = 0
      while (i < last.length) {
        if (cursor.bucket <= last(i)) counts(i) += cursor.count
        i += 1
      }
    }
    counts
  }

  /** The sum of what the records are above this latency, each taken for the middle of its bucket. */
  def sumBeyond(ms: Double, encoded: Array[Byte]): Double = {
    val cursor = new BucketCounts.Cursor(encoded)
    var sum = 0.0
    while (cursor.next()) {
      val middle = (LatencyTally.lowestOf(cursor.bucket) + LatencyTally.highestOf(cursor.bucket)) / 2.0
      if (middle > ms) sum += (middle - ms) * cursor.count
    }
    sum
  }

  /** No less than the sum of the records: ages that were taken at another time may be of the bucket above theirs. */
  def sumAtMost(encoded: Array[Byte]): Double = {
    val cursor = new BucketCounts.Cursor(encoded)
    var sum = 0.0
    while (cursor.next()) {
      val (lowest, highest) = (LatencyTally.lowestOf(cursor.bucket), LatencyTally.highestOf(cursor.bucket))
      sum += (2.0 * highest - lowest) * cursor.count
    }
    sum
  }

  /** From 1 to `count`. What rounding adds to the product must not make it the next place: hence the next smaller number. */
  private def placeOf(percent: Double, count: Long): Long = {
    val share = math.min(math.max(Math.nextAfter(percent, Double.NegativeInfinity), 0.0), 100.0)
    math.max(1, math.ceil(share * count.toDouble / 100).toLong)
  }
}
