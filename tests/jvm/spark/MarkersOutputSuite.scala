package io.sparklatency.spark

import io.sparklatency.spark.WrittenFiles.Written

/** What queries of every shape write with latency markers and without: the same, byte for byte. */
class MarkersOutputSuite extends WrittenFiles with Sampled {
  private val markers = "spark.sparklatency.markers.interval" -> "1ms"

  private def lines(written: Written): Seq[String] = written.parts.flatMap(_._2.linesIterator)

  private def comparable(written: Written): Seq[Any] =
    if (written.hasOrder) written.parts else lines(written).sorted

  for ((name, mode, plan) <- sample.part(plans))
    test(s"what is written stays the same, byte for byte, with markers: $name") {
      val plain = write(plan(), mode, "json")
      assert(lines(plain).nonEmpty && plain.marks === 0 && plain.markers === 0)
      withSettings(everything :+ markers: _*) {
        val marked = write(plan(), mode, "json")
        assert(marked.hasOrder === plain.hasOrder)
        assert(comparable(marked) === comparable(plain))
        assert(marked.marks > 0 && marked.markers > 0)
      }
    }
}
