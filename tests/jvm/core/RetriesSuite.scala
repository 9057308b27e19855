package io.sparklatency

import io.sparklatency.figures.Reading
import io.sparklatency.figures.Retries
import io.sparklatency.figures.TaskAttempt
import io.sparklatency.recording.LatencySummary
import org.scalatest.funsuite.AnyFunSuite

/** Which of two readings of one partition counts. */
class RetriesSuite extends AnyFunSuite {

  private def reading(stage: Int, task: Int, attempt: Long, records: Int): Reading = {
    val summary = Aged.records(Seq.fill(records)(5L): _*)
    Reading(0, TaskAttempt(stage, task, attempt), planning = 1, number = 0, summary, LatencySummary.empty)
  }

  private def stands(one: Reading, other: Reading): Long = {
    val standing = Retries.standing(one, other)
    assert(Retries.standing(other, one) === standing, "the order in which they come must not matter")
    standing.attempt.id
  }

  test("of two attempts at one task the newer stands, also if it read less") {
    assert(stands(reading(1, 0, attempt = 7, records = 9), reading(1, 0, attempt = 8, records = 3)) === 8)
  }

  test("of two jobs the one stands that read more, also if it is older") {
    assert(stands(reading(1, 0, attempt = 7, records = 9), reading(2, 0, attempt = 8, records = 3)) === 7)
  }

  test("of two jobs that read as much the older stands, for its records were there first") {
    assert(stands(reading(1, 0, attempt = 7, records = 3), reading(2, 0, attempt = 8, records = 3)) === 7)
  }

  test("what has read the same last is the work, in whichever order they come") {
    val jobs = (1 to 3).map(job => reading(job, 0, attempt = job.toLong, records = 3))
    for (order <- jobs.permutations) {
      val standing = order.reduce(Retries.standing)
      assert((standing.attempt.id, standing.work.attempt.id) === ((1, 3)))
    }
    val more = Retries.standing(jobs(0), reading(4, 0, attempt = 4, records = 9))
    assert((more.attempt.id, more.work.attempt.id) === ((4, 4)))
  }

  test("two tasks of one stage that read the same partition are no retries of one another") {
    assert(stands(reading(1, 0, attempt = 7, records = 9), reading(1, 1, attempt = 8, records = 3)) === 7)
  }
}
