package io.sparklatency.recording

import java.util.SplittableRandom

import io.sparklatency.time.Clock
import org.scalatest.funsuite.AnyFunSuite

/** How much a recorder takes for its cells, of rows that share readings of the clock. In the recorder's package for its visibility. */
class CellsMemorySuite extends AnyFunSuite {
  private val Now = 1790000000000L
  private val Rows = 1000000
  private val Hour = 3600000L

  private object StandingClock extends Clock {
    override def millis(): Long = Now
    override def readEveryRow: Boolean = false
  }

  private val cells = {
    val field = classOf[WriterTally].getDeclaredFields.find(_.getType == classOf[Array[Int]]).get
    field.setAccessible(true)
    field
  }

  private def bytes(recorder: LatencyRecorder): Int = cells.get(recorder).asInstanceOf[Array[Int]].length * 4

  /** The sizes that the cells have had. */
  private def sizes(ageOf: (Int, SplittableRandom) => Long): Set[Int] = {
    val (recorder, random) = (new LatencyRecorder(StandingClock), new SplittableRandom(15))
    (0 until Rows).flatMap { row =>
      recorder.record((Now - ageOf(row, random)) * 1000)
      if (row % 100 == 0) Some(bytes(recorder)) else None
    }.toSet
  }

  test("a task of few rows has no cells") {
    val recorder = new LatencyRecorder(StandingClock)
    for (_ <- 1 to 63) recorder.record((Now - 250) * 1000)
    assert(bytes(recorder) === 0)
    recorder.record((Now - 250) * 1000)
    assert(bytes(recorder) === 1024)
  }

  test("where ages lie close together their cells take 1 KB, however many rows come") {
    assert(sizes((_, random) => 5000 + random.nextLong(40)) === Set(0, 1024))
  }

  for (
    (spread, ageOf) <- Seq[(String, (Int, SplittableRandom) => Long)](
      "even over an hour" -> ((_, random) => random.nextLong(Hour)),
      "even over a day" -> ((_, random) => random.nextLong(24 * Hour)),
      "wider and wider" -> ((row, random) => random.nextLong(row + 1L)),
      "older and older" -> ((row, _) => row * 10L),
      "of two times that lie far apart" -> ((row, random) => (row % 2) * Hour + random.nextLong(20000))
    )
  )
    test(s"cells take 64 KB at the most: ages $spread")(assert(sizes(ageOf).max === 65536))
}
