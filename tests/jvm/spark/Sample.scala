package io.sparklatency.spark

import java.time.Clock
import java.time.LocalDate

import org.scalatest.funsuite.AnyFunSuite

/**
 * Which cases of a product are run, such as that of shapes and modes. A sample has each shape and each mode at least once. Seeds
 * that follow one another have other samples, and as many of them as there are modes have the whole product.
 *
 * `make test-full` sets `TEST_FULL` and runs all. `SAMPLE_SEED` runs a sample again; without it the day is the seed. On a Spark line
 * on which it does not run all suites `make test` sets `SAMPLE_PARTS`.
 *
 * @param parts into how many parts the shapes fall of which one is run
 */
final case class Sample(seed: Long, isFull: Boolean, parts: Int = 1) {
  require(seed >= 0, s"SAMPLE_SEED=$seed is negative")

  def of[A, B](shapes: Seq[A], modes: Seq[B]): Seq[(A, B)] = {
    require(shapes.size >= modes.size, "a sample would not have all modes")
    for ((shape, turn) <- shapes.zipWithIndex; mode <- modesOf(turn, modes)) yield (shape, mode)
  }

  /** In which modes the shape runs whose turn it is. */
  def modesOf[B](turn: Int, modes: Seq[B]): Seq[B] =
    if (isFull) modes else Seq(modes(((turn + seed) % modes.size).toInt))

  /** The part whose turn it is: stretches of cases, so that it has all modes that [[of]] gives them. */
  def part[A](cases: Seq[A]): Seq[A] =
    if (isFull) cases
    else
      cases.zipWithIndex.collect { case (one, place) if (place / parts + seed / parts) % parts == 0 => one }

  override def toString: String = if (isFull) "all cases" else s"a sample of cases, SAMPLE_SEED=$seed"
}

object Sample {
  def from(environment: Map[String, String], today: Clock = Clock.systemUTC): Sample = {
    def set(name: String) = environment.get(name).filter(_.nonEmpty)
    Sample(
      set("SAMPLE_SEED").fold(LocalDate.now(today).toEpochDay)(_.toLong),
      set("TEST_FULL").nonEmpty,
      set("SAMPLE_PARTS").fold(1)(_.toInt)
    )
  }
}

/** Suites of which a sample is run. They say so. */
trait Sampled { this: AnyFunSuite =>
  protected val sample: Sample = Sample.from(sys.env)
  info(sample.toString)
}
