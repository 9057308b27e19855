package io.sparklatency

import io.sparklatency.answer.Headline
import io.sparklatency.answer.LeftOut
import io.sparklatency.answer.Note
import io.sparklatency.answer.QueryAnswer
import io.sparklatency.answer.RunStatus
import io.sparklatency.answer.SkippedBatches
import io.sparklatency.figures.Activity
import io.sparklatency.figures.Batch
import io.sparklatency.figures.QuerySnapshot
import org.scalatest.funsuite.AnyFunSuite

/** How a run goes: its last commit, what it does now, and how it ended. It is 100 s after the epoch. */
class ProgressSuite extends AnyFunSuite {
  private val committed =
    Batch("orders", None, Some("run"), 11, 96000, 98000, 1, Map.empty, None, Nil, 0, Nil)
  private val query = Answered.query().copy(
    batches = 12,
    lastBatch = Some(committed),
    usuallyMs = Some(2000),
    takesMs = Some(1500)
  )

  private def doing(
      sinceMs: Option[Long],
      hasData: Boolean = true,
      tasks: Option[Activity.Tasks] = None
  ): QuerySnapshot =
    query.doing(Some(Activity(12, "Processing new data", sinceMs, hasData, tasks = tasks)), 100000)

  private def of(query: QuerySnapshot, status: RunStatus, error: Option[String] = None) =
    new QueryAnswer(query, Some(status), error = error)

  private def said(
      query: QuerySnapshot,
      status: RunStatus = RunStatus.Running,
      error: Option[String] = None
  ) =
    of(query, status, error).progress.text.get

  test("a batch in progress tells its number, how long it has run, what it does, and how far its tasks are") {
    assert(said(doing(Some(1500), tasks = Some(Activity.Tasks(3, 2, 10)))) ===
      "Batch 12 has run for 1.5 s: Processing new data, 3 of 10 tasks done. The oldest record that waits for its commit is at least " +
      "1.5 s old. The last commit was 2 s ago; usually there is one every 2 s.")
  }

  test("what the batch is to read is at least as old as the batch, also before a task has told") {
    assert(doing(Some(1500)).oldestUncommittedMs === Some(1500))
    assert(doing(Some(1500), hasData = false).oldestUncommittedMs === None)
    val told = query.copy(oldestUncommittedMs =
      Some(4000)
    ).doing(Some(Activity(12, "", Some(1500), hasData = true)), 100000)
    assert(told.oldestUncommittedMs === Some(4000))
    val endless = Activity(12, "", None, hasData = true, hasNoEnd = true)
    assert(told.doing(Some(endless), 100000).oldestUncommittedMs === None, "results can be seen at once")
  }

  test("what the last trigger left is told, of sources that tell it, and nothing where it left nothing") {
    def left(of: (String, Long)*): (Option[Long], String) = {
      val told = doing(None)
      val leaving = told.copy(activity = told.activity.map(_.copy(left = of.map(Activity.Left.tupled))))
      (leaving.recordsLag, said(leaving).stripPrefix("Processing new data. ").takeWhile(_ != '.'))
    }
    assert(left() === ((None, "The last commit was 2 s ago; usually there is one every 2 s")))
    assert(left("kafka[orders]" -> 0) === ((
      Some(0),
      "The last commit was 2 s ago; usually there is one every 2 s"
    )))
    assert(left("kafka[a]" -> 1200, "kafka[b]" -> 0, "kafka[c]" -> 1) ===
      ((Some(1201), "The last trigger left 1,200 records in kafka[a] and 1 record in kafka[c]")))
  }

  test("between two triggers it is said what the query waits for") {
    val waiting = query.doing(Some(Activity(12, "Waiting for data to arrive", None, hasData = false)), 100000)
    assert(said(waiting) ===
      "Waiting for data to arrive. The last commit was 2 s ago; usually there is one every 2 s.")
    assert(said(waiting.copy(lastBatch = None, usuallyMs = None)) ===
      "Waiting for data to arrive. No batch has been committed yet.")
    // In continuous mode nobody tells of a commit, and its epochs are committed.
    assert(said(waiting.copy(lastBatch = None, usuallyMs = None, endless = true)) ===
      "Waiting for data to arrive.")
  }

  test("where the clock was set back behind the last commit, that was right now") {
    val waiting = query.doing(Some(Activity(12, "Waiting for data to arrive", None, hasData = false)), 1000)
    assert(waiting.sinceCommitMs === Some(0))
    assert(said(waiting) ===
      "Waiting for data to arrive. The last commit was 0 ms ago; usually there is one every 2 s.")
  }

  test("a run that has ended says how") {
    assert(said(query, RunStatus.Finished) === "Finished. 12 batches were committed.")
    assert(said(query.copy(batches = 0), RunStatus.Failed, Some("java.io.IOException: disk full")) ===
      "Failed: java.io.IOException: disk full.")
    for (line <- Seq("The disk is full.", "The disk is full;", "The disk is full"))
      assert(said(query.copy(batches = 0), RunStatus.Failed, Some(line)) === "Failed: The disk is full.")
    assert(Answered.answer(query).progress.text === None)
  }

  test("a batch that takes more than half a minute, and five times as long as usual, is a wrong") {
    def stalled(query: QuerySnapshot, status: RunStatus = RunStatus.Running) =
      of(query, status).notes.filter(_.code == "stalled").map(note => note.level -> note.text)
    assert(stalled(doing(Some(30000))) === Seq(Note.Wrong ->
      "Batch 12 has run for 30 s, where one usually takes 1.5 s: Processing new data."))
    assert(stalled(doing(Some(29999))) === Nil)
    assert(stalled(doing(Some(30000)).copy(takesMs = Some(6000))) === Nil)
    assert(stalled(doing(Some(30001)).copy(takesMs = Some(6000))).size === 1)
    assert(stalled(doing(Some(30000)).copy(takesMs = None)).size === 1, "its first batch")
    assert(stalled(doing(Some(30000)).copy(usuallyMs = Some(3600000))).size === 1, "one comes each hour")
    assert(stalled(doing(None)) === Nil, "in real-time mode a long batch is usual")
    val over = doing(Some(336000))
    val overdue = over.copy(activity = over.activity.map(_.copy(hasNoEnd = true)), takesMs = Some(300000))
    assert(stalled(overdue) === Seq(Note.Wrong -> "Batch 12 has run for 5.6 min: Processing new data."))
    assert(stalled(doing(Some(30000)), RunStatus.Finished) === Nil)
  }

  test("a batch whose tasks got on within half a minute is not stalled, as a first one with a long backlog") {
    def codes(takesMs: Option[Double], progressMs: Long) = {
      val query = doing(Some(90000)).copy(takesMs = takesMs, progressMs = Some(progressMs))
      (query.sinceProgressMs, of(query, RunStatus.Running).progress.isStalled)
    }
    for (takesMs <- Seq(None, Some(2000.0))) {
      assert(codes(takesMs, 70001) === ((Some(29999), false)))
      assert(codes(takesMs, 70000) === ((Some(30000), true)))
      assert(codes(takesMs, 5000) === ((Some(90000), true)), "in the batch before")
      assert(codes(takesMs, 100001) === ((Some(0), false)), "the clock was set back")
    }
    assert(doing(None).copy(progressMs = Some(70000)).sinceProgressMs === None)
  }

  test("a batch of a query without figures is stalled by how long others took") {
    val unmarked = query.copy(lastBatch = None, unmarkedMs = Some(55000), takesMs = Some(1500))
    def codes(takesMs: Double) = {
      val activity = Activity(12, "Processing new data", Some(45000), hasData = true, hasCommitted = true)
      val it = of(unmarked.copy(takesMs = Some(takesMs)).doing(Some(activity), 100000), RunStatus.Running)
      (it.headline.code, it.notes.map(_.code))
    }
    assert(codes(8999) === ((Headline.Stalled, Seq("stalled", "no-node"))))
    assert(codes(9000) === ((Headline.Unknown, Seq("no-node"))))
  }

  test("until its first commit is told nobody knows how long they take: none is stalled") {
    val unmarked = query.copy(batches = 0, lastBatch = None, usuallyMs = None, takesMs = None)
    def of(hasCommitted: Boolean) = {
      val activity = Activity(1234, "Processing new data", Some(45000), hasData = true, hasCommitted)
      this.of(unmarked.doing(Some(activity), 100000), RunStatus.Running)
    }
    assert(of(hasCommitted = true).notes.map(_.code) === Seq("no-node"))
    assert(of(hasCommitted = true).query.runningMs === None)
    assert(of(hasCommitted =
      true
    ).progress.text.get.startsWith("Batch 1,234 has run for 45 s: Processing new data."))
    assert(of(hasCommitted = true).progress.text.get.endsWith("No node of this query has figures."))
    assert(of(hasCommitted = false).headline.code === Headline.Stalled)
    assert(of(hasCommitted = false).progress.text.get.endsWith("No batch has been committed yet."))
  }

  test(
    "when a query without figures last committed is said as long as it runs, and that it did when it has ended"
  ) {
    val unmarked = query.copy(lastBatch = None, usuallyMs = None, unmarkedMs = Some(97000))
    val idle = Activity(12, "Waiting for data to arrive", None, hasData = false)
    val noNode = "No node of this query has figures."
    val waits = unmarked.doing(Some(idle), 100000)
    assert(waits.sinceCommitMs === Some(3000))
    assert(said(waits) === s"Waiting for data to arrive. The last commit was 3 s ago. $noNode")
    assert(said(unmarked, RunStatus.Finished) === s"Finished. 12 batches were committed. $noNode")
    for (query <- Seq(waits, unmarked)) {
      assert(Answered.answer(query).notes.map(note => note.code -> note.text) === Seq("no-node" ->
        (s"$noNode Mark one by hand, or set spark.sparklatency.auto to have nodes marked when it starts.")))
      assert(Answered.answer(query).headline.text ===
        "No node of this query has figures, so nobody knows which step takes the time.")
    }
    val leftOut = LeftOut.note(LeftOut.node("sink", "no column"))
    assert(new QueryAnswer(waits, None, found = Seq(leftOut)).notes.map(_.text) ===
      Seq(s"$noNode The notes on what is left out say why.", leftOut.text))
    val newer = SkippedBatches.note("a newer one wrote them")
    for (run <- Seq(waits, unmarked.copy(unmarkedMs = None, batches = 0)))
      assert(new QueryAnswer(run, None, found = Seq(newer)).notes === Seq(newer))
    assert(newer.text === "Batches are skipped: a newer one wrote them.")
  }

  test("a stalled batch tells how far its tasks are, and that none runs") {
    def stalled(done: Int, running: Int) =
      of(doing(Some(30000), tasks = Some(Activity.Tasks(done, running, 10))), RunStatus.Running).notes
        .find(_.code == "stalled").map(_.text.split(": ", 2)(1))
    assert(stalled(3, 2) === Some("Processing new data, 3 of 10 tasks done."))
    assert(stalled(
      3,
      0
    ) === Some("Processing new data, 3 of 10 tasks done. No task runs: are there executors?"))
    assert(stalled(10, 0) === Some("Processing new data, 10 of 10 tasks done."))
  }

  test("an error is in the note of a failed run") {
    val notes = of(query, RunStatus.Failed, Some("java.io.IOException: disk full")).notes
    assert(notes.find(_.code == "failed").map(_.text) ===
      Some("An error ended this run: java.io.IOException: disk full"))
  }
}
