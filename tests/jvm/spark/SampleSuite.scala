package io.sparklatency.spark

import java.time.Clock
import java.time.Instant
import java.time.ZoneOffset

import org.scalatest.funsuite.AnyFunSuite

/** What is sampled is known by the seed, and nothing is left out for long. */
class SampleSuite extends AnyFunSuite {
  private val shapes = 'a' to 'g'

  for (modes <- Seq(1 to 1, 1 to 3, 1 to 7))
    test(
      s"a sample of ${modes.size} modes has each shape and each mode, and samples in a row have all cases"
    ) {
      val whole = for (shape <- shapes; mode <- modes) yield (shape, mode)
      assert(Sample(5, isFull = true).of(shapes, modes) === whole)
      for (seed <- 0L to 9L) {
        val sample = Sample(seed, isFull = false).of(shapes, modes)
        assert(sample.map(_._1) === shapes)
        assert(sample.map(_._2).toSet === modes.toSet)
        val inARow = modes.indices.flatMap(i => Sample(seed + i, isFull = false).of(shapes, modes))
        assert(inARow.toSet === whole.toSet)
      }
    }

  test("of three parts each has all modes, and samples in a row have all cases") {
    val modes = 1 to 3
    def part(seed: Long) = {
      val sample = Sample(seed, isFull = false, parts = 3)
      sample.part(sample.of('a' to 'i', modes))
    }
    for (seed <- 0L to 9L) {
      assert(part(seed).size === 3)
      assert(part(seed).map(_._2).toSet === modes.toSet)
      assert((0L to 8L).flatMap(more => part(seed + more)).toSet.size === 27)
    }
    assert(Sample(5, isFull = true, parts = 3).part(shapes) === shapes)
    assert(Sample(5, isFull = false).part(shapes) === shapes)
  }

  test("the environment says which, else the day") {
    val noon = Clock.fixed(Instant.parse("1970-02-01T12:00:00Z"), ZoneOffset.UTC)
    assert(Sample.from(Map.empty, noon) === Sample(31, isFull = false))
    assert(Sample.from(Map("SAMPLE_SEED" -> "", "TEST_FULL" -> ""), noon) === Sample(31, isFull = false))
    assert(Sample.from(Map("SAMPLE_SEED" -> "7", "TEST_FULL" -> "1"), noon) === Sample(7, isFull = true))
    assert(Sample.from(Map("SAMPLE_PARTS" -> "3"), noon) === Sample(31, isFull = false, parts = 3))
  }
}
