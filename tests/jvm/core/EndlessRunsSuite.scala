package io.sparklatency

import io.sparklatency.answer.QueryAnswer
import io.sparklatency.figures.Activity
import io.sparklatency.figures.Batch
import io.sparklatency.figures.BatchTimes
import io.sparklatency.figures.FiguresListener
import io.sparklatency.figures.FiguresSettings
import io.sparklatency.figures.LiveRuns
import io.sparklatency.figures.Measure
import io.sparklatency.figures.PlannedNode
import io.sparklatency.figures.PublishedPart
import io.sparklatency.figures.QuerySnapshot
import io.sparklatency.figures.ReadingId
import io.sparklatency.figures.TaskAttempt
import io.sparklatency.figures.TaskReport
import io.sparklatency.figures.TaskSlice
import org.scalatest.funsuite.AnyFunSuite

/** A run of which no batch ends for minutes, or ever. When it has ended, its last figures are all that is known of it. */
class EndlessRunsSuite extends AnyFunSuite with MarksOfRun {

  /** Records are 40 s old when they are read, and 41 s at the end. */
  private final class Run {
    private var goesOn = true
    private val activity = Activity(0, "Processing new data", None, hasData = true, hasNoEnd = true)
    private val live =
      new LiveRuns(
        clock,
        FiguresSettings(),
        FiguresListener.Nowhere,
        activity = _ => Option.when(goesOn)(activity)
      )(_.stopped)
    private var seconds = 0

    def plan(): Unit =
      live.planned(Seq("source" -> Set.empty[String], "scored" -> Set("source")).zipWithIndex.map {
        case ((node, upstream), planning) =>
          PlannedNode(owner(node), upstream, planning.toLong, hasBatches = false)
      })

    plan()
    live.jobStarted("id", Seq(1))

    /** A task shows what it has recorded. */
    def show(task: Long = 1): Unit =
      for (((node, ms), planning) <- Seq("source" -> 40000L, "scored" -> 41000L).zipWithIndex) {
        val reading = ReadingId(planning.toLong, task, number = 0, task.toInt)
        val oldest = Some(clock.millis() - ms)
        live.publish(PublishedPart(owner(node), reading, endless = false, Aged.records(ms), oldest))
      }

    /** Spark kills that task. */
    def fail(task: Long = 1): Unit = live.taskEnded(task, stage = 1, hasFailed = true, why = Some("killed"))

    def lose(executor: String): Unit =
      live.executorRemoved(executor, Some("exit code 137"), isOverdue = false)

    /** So many seconds of which the operators before `scored` are at work for 980 ms each, and what comes meanwhile is a batch. */
    def batch(number: Long, seconds: Int): Batch = {
      val marks = Seq(mark("source", 0)(40000), mark("scored", 0, "source")(41000))
      live.update(owner("source"))(run => run.add(marks, run.batch(number), _ => None))
      (1 to seconds).foreach(_ => second())
      live.update(owner("source")) { run =>
        run.batch(number).committed(clock.millis())
        run.commit(number)(identity).get
      }
    }

    def second(): Unit = {
      seconds += 1
      val over = seconds * 1000f
      val nodes = for ((planning, waited) <- Seq(0L -> 0f, 1L -> seconds * 980f))
        yield TaskReport.Node(planning, 0, TaskSlice("1", 0, over, over, over, waited), 50)
      live.report(TaskReport(Some("run"), TaskAttempt(1, 0, 1), hasBatches = false, nodes))
      clock.advance(1000)
    }

    def query: QuerySnapshot = live.snapshot().head

    def stop(): Unit = {
      goesOn = false
      live.stopped("run")
    }
  }

  private def said(query: QuerySnapshot): String = new QueryAnswer(query, None).headline.text

  private def counts(run: Run): Seq[Long] =
    run.query.nodes.map(_.measures(Measure.E2ELatency).total.count.toLong)

  private def replayed(batches: Batch*): QuerySnapshot =
    new LiveRuns(clock, FiguresSettings(), FiguresListener.Nowhere)(_.stopped).update(owner("source")) {
      run =>
        batches.foreach(run.replay)
        run.snapshot(clock.millis())
    }

  private val waits = "Records are old when they are read, 40 s of 41 s (98 %). " +
    "A task is at work 98 % of the time at scored, and records wait for it. Make that faster, or give it more cores."

  test("what was said of it last is said when it has ended, and stays") {
    val run = new Run
    run.batch(0, seconds = 12)
    assert(said(run.query) === waits)
    val window = run.query.window
    run.stop()
    assert(said(run.query) === waits)
    assert(new QueryAnswer(run.query, None).parts.text ===
      Some("source queuing 40 s, work at scored 1 s: 41 s on average in its last figures"))
    clock.advance(3600000)
    assert((said(run.query), run.query.window) === ((waits, window)))
    assert(run.query.activity === None)
  }

  test("so it is of one that ends within a batch, of which nothing else stands") {
    val run = new Run
    run.batch(0, seconds = 3)
    run.plan()
    clock.advance(3600000) // only what the next one shows is within the window
    run.show()
    (1 to 12).foreach(_ => run.second())
    val (query, busy) = (run.query, said(run.query))
    assert(busy === waits)
    run.fail()
    assert(said(run.query) !== waits)
    run.stop()
    clock.advance(3600000)
    assert((said(run.query), run.query.window) === ((waits, query.window)))
    assert(counts(run) === Seq(2, 2))
  }

  test("all tasks of a batch are lost at one time, and one that failed long before was run again") {
    val run = new Run
    for (task <- 1 to 3) run.show(task.toLong)
    run.fail(1)
    clock.advance(10000)
    run.show(4)
    run.show(5)
    run.fail(2)
    clock.advance(9999)
    run.fail(3)
    run.stop()
    assert(counts(run) === Seq(4, 4))
    assert(run.query.oldestUncommittedMs === None)
  }

  test(
    "what does not go with the tasks is that of the end: how many attempts have failed, and who was lost"
  ) {
    val run = new Run
    run.show()
    run.fail(1)
    clock.advance(1000)
    run.fail(2)
    run.lose("7")
    run.stop()
    assert((run.query.failedTasks.map(_.count), run.query.lostExecutors.size) === ((Some(2), 1)))
    assert(counts(run) === Seq(1, 1))
    run.fail(3)
    assert(counts(run) === Seq(1, 1))
  }

  test("what a batch that failed has shown does not stay when another follows") {
    val run = new Run
    run.show()
    run.fail()
    run.plan()
    run.stop()
    assert(counts(run) === Seq(0, 0))
  }

  test("a batch tells who was at work when it ended, and whoever reads that says what was said then") {
    val run = new Run
    val batches = Seq(run.batch(0, seconds = 12), run.batch(1, seconds = 3))
    assert(batches.map(_.windows.flatMap(_.last).map(_.batch)) === Seq(Some(11), Some(14)))
    assert(batches.map(_.times) === Seq(None, None))
    for (read <- Seq(replayed(batches.head), replayed(batches: _*))) {
      assert(said(read) === waits)
      assert(read.nodes.map(_.operator.size) === Seq(10, 10))
      assert(read.times.map(_.of) === Some(BatchTimes.Window))
    }
    assert(replayed(batches: _*).times === run.query.times)
  }

  test("one that no window tells of tells that, too") {
    val run = new Run
    val batch = run.batch(0, seconds = 0)
    assert(batch.windows.map(_.last) === Some(None))
    assert(said(replayed(batch)) === "Records are old when they are read, 40 s of 41 s (98 %). " +
      "They arrive old, or wait for a busy task. No task has told how long its operators are at work.")
  }

  test("a run in batches tells of no windows") {
    val runs = new LiveRuns(clock, FiguresSettings(), FiguresListener.Nowhere)(_.stopped)
    val batch = runs.update(owner("source")) { run =>
      run.add(Seq(mark("source", 0)(40)), run.batch(0), _ => None)
      run.commit(0)(identity).get
    }
    assert(batch.windows === None)
    runs.stopped("run")
    clock.advance(3600000)
    assert(runs.snapshot().head.isSilent, "its window goes on")
  }
}
