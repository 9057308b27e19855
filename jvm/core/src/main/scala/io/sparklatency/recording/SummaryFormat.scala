package io.sparklatency.recording

import java.nio.ByteBuffer

/**
 * A summary as bytes. They stand in event logs, which outlive the jar that wrote them: whatever was ever written is read for ever.
 *
 *  - Format 0: count, lowest, highest, without timestamp, ahead of the clock, each a Long; the number of bytes of the sum, an
 *    Int; the sum; the buckets as [[BucketCounts]] encodes them, in the [[BucketLayout]] of 7 bits.
 *  - Format 1: a byte that says so, a byte with the bits of the layout, and then the same. So the layout can change, and no reader
 *    takes the buckets of one for those of another.
 *
 * Format 0 does not name itself. But it begins with a count, which as all counts is below 2^56^, so that its first byte is 0.
 */
private[recording] object SummaryFormat {
  val Newest = 1

  private val BitsOfFormat0 = 7
  private val KnownBits = 1 to 16

  def write(summary: LatencySummary): Array[Byte] = {
    import summary._
    val total = sum.toByteArray
    ByteBuffer.allocate(2 + 5 * 8 + 4 + total.length + encoded.length)
      .put(Newest.toByte).put(LatencyTally.Bits.toByte)
      .putLong(count).putLong(lowest).putLong(highest).putLong(withoutTimestamp).putLong(aheadOfClock)
      .putInt(total.length).put(total).put(encoded).array
  }

  def read(bytes: Array[Byte]): LatencySummary = {
    val buffer = ByteBuffer.wrap(bytes)
    val bits = readHeader(buffer)
    val count = buffer.getLong()
    val lowest = buffer.getLong()
    val highest = buffer.getLong()
    val withoutTimestamp = buffer.getLong()
    val aheadOfClock = buffer.getLong()
    val total = new Array[Byte](buffer.getInt())
    buffer.get(total)
    val encoded = new Array[Byte](buffer.remaining)
    buffer.get(encoded)
    LatencySummary(
      count,
      lowest,
      highest,
      BigInt(total),
      withoutTimestamp,
      aheadOfClock,
      if (bits == LatencyTally.Bits) encoded else laidOut(encoded, bits)
    )
  }

  /** The bits of the layout. */
  private def readHeader(buffer: ByteBuffer): Int = {
    val format = buffer.get(0) & 255
    if (format > Newest) throw new NewerFormatException("latencies", format, Newest)
    if (format == 0) BitsOfFormat0
    else {
      val bits = buffer.position(1).get().toInt
      if (!KnownBits.contains(bits))
        throw new IllegalArgumentException(s"not the latencies of format $format: a layout of $bits bits")
      bits
    }
  }

  /**
   * Buckets of another layout in ours, each by its highest value. So percentiles stay what they were in it: as exact as its buckets
   * are narrow, and never too low.
   */
  private def laidOut(encoded: Array[Byte], bits: Int): Array[Byte] = {
    val ours = new BucketCounts
    val cursor = new BucketCounts.Cursor(encoded, BucketLayout.size(bits))
    while (cursor.next())
      ours.add(LatencyTally.bucketOf(BucketLayout.highestOf(cursor.bucket, bits)), cursor.count)
    ours.encode
  }
}
