package io.sparklatency

import java.io.ByteArrayInputStream
import java.io.ByteArrayOutputStream
import java.io.ObjectInputStream
import java.io.ObjectOutputStream

import io.sparklatency.figures.Reading
import io.sparklatency.figures.TaskAttempt
import io.sparklatency.figures.TaskSlice
import io.sparklatency.recording.Ages
import io.sparklatency.recording.LatencySummary
import org.scalatest.funsuite.AnyFunSuite

/** What comes from a task to its driver. */
class ReadingSuite extends AnyFunSuite {
  private val attempt = TaskAttempt(3, 17, 42)
  private val (some, more) = (Aged.records(1, 200, 3000), Aged.records(5))
  private val slice = TaskSlice("executor-1", 1790000000000000L, 9.5f, 10.25f, 8, 1.5f, 0.75f)
  private val published =
    Reading(17, attempt, 9000000000L, 1, some, more, Some(Ages(1790000000000L, more)), slice)
  private val plain = Reading(18, attempt, 7, 0, some, some, None, slice)
  private val unwatched = plain.copy(slice = TaskSlice.Unwatched, summary = LatencySummary.empty)

  private def bytes(readings: Seq[Reading]): Array[Byte] = {
    val bytes = new ByteArrayOutputStream
    val out = new ObjectOutputStream(bytes)
    readings.foreach(_.writeTo(out))
    out.close()
    bytes.toByteArray
  }

  private def sent(readings: Reading*): Seq[Reading] = {
    val in = new ObjectInputStream(new ByteArrayInputStream(bytes(readings)))
    readings.map(_ => Reading.readFrom(in))
  }

  /** Summaries are equal to nothing but themselves. */
  private def fields(of: Reading) = {
    def known(summary: LatencySummary) = summary.toBytes.toSeq
    val ages = of.ages.map { case Ages(atMs, summary) => (atMs, known(summary)) }
    (of.partition, of.attempt, of.planning, of.number, known(of.summary), known(of.rest), ages, of.slice)
  }

  test("a reading arrives as it was sent, whatever the task had published") {
    val readings = Seq(published, plain, unwatched)
    assert(sent(readings: _*).map(fields) === readings.map(fields))
  }

  test(
    "what readings of one task share they share on the driver, and what came of no watch is known for it"
  ) {
    val Seq(first, second, third) = sent(published, plain, unwatched): @unchecked
    assert(first.attempt eq second.attempt)
    assert(first.slice.executor eq second.slice.executor)
    val Seq(ofAnother) = sent(plain.copy(attempt = TaskAttempt(3, 18, 43))): @unchecked
    assert(ofAnother.slice.executor eq first.slice.executor, "all tasks of one executor")
    val elsewhere = plain.copy(slice = slice.copy(executor = "executor-2"))
    val byTurns = sent(plain, elsewhere, plain, elsewhere).map(_.slice.executor)
    assert(byTurns === Seq("executor-1", "executor-2", "executor-1", "executor-2"))
    assert(byTurns.head eq first.slice.executor, "also when others have come between")
    assert(second.rest eq second.summary)
    assert((second.slice.isWatched, third.slice.isWatched) === ((true, false)))
  }

  test("one more reading of a task takes a hundred bytes beside its summary") {
    val one = bytes(Seq(plain)).length
    assert(bytes(Seq(plain, plain.copy(partition = 19))).length - one - some.toBytes.length < 100)
  }
}
