package io.sparklatency

import io.sparklatency.figures.AgeParts
import io.sparklatency.figures.BatchTimes
import io.sparklatency.figures.Filling
import io.sparklatency.figures.NodePartitions
import io.sparklatency.figures.NodeTimes
import io.sparklatency.figures.PartitionTimes
import io.sparklatency.figures.StageTimes
import org.scalatest.funsuite.AnyFunSuite

/** What fills the batch that records wait for, and what can be done about it. */
class FilledBatchSuite extends AnyFunSuite with ExplainedBatches {

  test("where records wait for the batch before, the step is named that fills it") {
    assert(said(batch(parts(before = 41000))) === ((
      "waited-for-the-batch-before",
      Some("scored"),
      "Records wait for the batch before, 41 s of 41 s (100 %). A batch takes 46 s, 43 s of it at scored. Make that faster, or give " +
        "it more cores."
    )))
  }

  test(
    "what fills the batch before may be no step of one node, what comes after the last node, or the start"
  ) {
    assert(said(batch(parts(before = 41000), times(1000, rest = 40000)))._3.endsWith(
      "A batch takes 46 s, 40 s of it in the stage of source and scored. Make that faster, or give it more cores."
    ))
    assert(said(batch(parts(before = 41000), times(1000)))._3.endsWith(
      "A batch takes 46 s, 45 s of it after scored. Make the sink faster, and whatever stands before it without a node."
    ))
    val late = times(100).copy(firstReadMicros = 55000L * 1000)
    val (_, node, text) = said(batch(parts(before = 41000), late))
    assert(node === None && text.endsWith(
      "A batch takes 46 s, 45 s of it before its first read: offsets, planning, scheduling. Fewer files and partitions make it shorter."
    ))
  }

  test("what Spark writes to the checkpoint when the sink is done is not the sink's") {
    // Triggered at 10,000, read from 10,900, and over at 12,500.
    val took = Some(admission.copy(tookMs = 2500))
    val work = times(450).copy(firstReadMicros = 10900000)
    def logged(ms: Long) =
      batch(parts(before = 1200), work).copy(admission = took, durationsMs = Map("commitOffsets" -> ms))
    assert(said(logged(920)) === ((
      "waited-for-the-batch-before",
      None,
      "Records wait for the batch before, 1.2 s of 1.3 s (95 %). A batch takes 2.5 s, 920 ms of it to write the log of its checkpoint. " +
        "Keep the checkpoint on a faster file system."
    )))
    assert(
      said(logged(100))._3.contains("A batch takes 2.5 s, 1.1 s of it after scored. Make the sink faster")
    )
    assert(said(logged(300))._3.contains("A batch takes 2.5 s, 900 ms of it before its first read"))
  }

  test("the start of a batch is divided as Spark tells how long its steps took") {
    // Triggered at 10,000, read from 30,300, and committed at 36,000.
    val late = times(5000).copy(firstReadMicros = 30300000)
    val took = Map("latestOffset" -> 30L, "queryPlanning" -> 150L, "walCommit" -> 40L, "addBatch" -> 25700L)
    def begun(start: Double, durations: Map[String, Long]) =
      batch(parts(start = start, before = 13000, work = 5000), late)
        .copy(durationsMs = durations, committedMs = 36000, admission = Some(admission.copy(tookMs = 26500)))
    def text(durations: Map[String, Long], start: Double = 20300) = said(begun(start, durations))._3
    val plain =
      "It takes long until a batch begins to read, 20 s of 38 s (53 %): offsets, planning, scheduling. Fewer files and partitions make " +
        "it shorter."
    assert(text(Map.empty) === plain)
    assert(said(begun(20300, took)) === ((
      "start-of-the-batch",
      None,
      "It takes long until a batch begins to read, 20 s of 38 s (53 %), 20 s of it between planning and the first read: a table that is " +
        "broadcast, stages without a node, what foreachBatch does first, or a wait for cores. Cache such a table, or mark a step there " +
        "to see whose it is."
    )))
    assert(text(took + ("walCommit" -> 12000L)) ===
      "It takes long until a batch begins to read, 20 s of 38 s (53 %), 12 s of it to write the log of the checkpoint. A faster file " +
      "system makes it shorter.")
    val elsewhere = begun(20300, took).copy(cameIn = Some(Filling(26500, Filling.Start, Nil, 20300)))
    assert(said(elsewhere)._3 === plain, "records came in with another batch, whose start nobody knows")
    // The sink was called at 10,061 and 10,060: a stage needs some time to begin.
    def soon(addBatch: Long) = {
      val one =
        begun(1060, took + ("latestOffset" -> 10L) + ("queryPlanning" -> 10L) + ("addBatch" -> addBatch))
      val read = one.copy(times = one.times.map(_.copy(firstReadMicros = 11060000)))
      said(read.copy(parts = Some(parts(start = 1060))))._3
    }
    assert(soon(25939).contains("(95 %): offsets, planning, scheduling."))
    assert(soon(25940).contains("(95 %), 1 s of it between planning and the first read:"))
    // Records that came in with another batch waited for the start of that one.
    assert(text(took, start = 21000).contains(": offsets, planning, scheduling."))
    // So it is where records wait for the batch before.
    def filled(durations: Map[String, Long]) = {
      val (_, node, text) = said(begun(20300, durations).copy(parts = Some(parts(before = 41000))))
      assert(node === None)
      text.split("A batch takes ").last
    }
    assert(filled(took) ===
      "27 s, 20 s of it between planning and the first read: a table that is broadcast, stages without a node, what foreachBatch does " +
      "first, or a wait for cores. Cache such a table, or mark a step there to see whose it is.")
    assert(filled(took ++ Map("walCommit" -> 9000L, "commitOffsets" -> 6000L)) ===
      "27 s, 15 s of it to write the log of its checkpoint. Keep the checkpoint on a faster file system.")
    assert(
      filled(Map.empty).startsWith("27 s, 20 s of it before its first read: offsets, planning, scheduling.")
    )
  }

  test("a batch that spends its time between stages with a node is not filled by its sink") {
    assert(said(batch(parts(before = 41000), apart)) === ((
      "waited-for-the-batch-before",
      None,
      "Records wait for the batch before, 41 s of 41 s (100 %). A batch takes 46 s, 41 s of it between stages with a node: while tasks " +
        "start, in stages without one, in foreachBatch itself, or where that reads its rows again. Persist what foreachBatch reads " +
        "twice, or mark a step there to see whose it is."
    )))
  }

  test("the batch before may have been another than this one: it is what records waited for") {
    val waited = batch(parts(before = 41000))
    assert(said(waited.copy(before = Some(Filling(47000, Filling.Node, Seq("source"), 30000)))) === ((
      "waited-for-the-batch-before",
      Some("source"),
      "Records wait for the batch before, 41 s of 41 s (100 %). A batch takes 47 s, 30 s of it at source. Make that faster, or give it " +
        "more cores."
    )))
    val quick = waited.copy(admission = Some(admission.copy(tookMs = 544)))
    def after(before: Filling) = said(quick.copy(before = Some(before)))
    assert(after(Filling(20487, Filling.After, Nil, 20000)) === ((
      "waited-for-the-batch-before",
      Some("scored"),
      "Records wait for the batch before, 41 s of 41 s (100 %). The batch before took 20 s, 20 s of it after scored. Make the sink " +
        "faster, and whatever stands before it without a node."
    )))
    val (_, node, text) = after(Filling(20487, Filling.Start, Nil, 19000))
    assert(node === None && text.endsWith(
      "The batch before took 20 s, 19 s of it before its first read: offsets, planning, scheduling. Fewer files and partitions make it shorter."
    ))
    assert(after(Filling(20487, Filling.Stage, Seq("source", "scored"), 19000))._3.endsWith(
      "The batch before took 20 s, 19 s of it in the stage of source and scored. Make that faster, or give it more cores."
    ))
  }

  test("where a step waits for one partition, more cores are not advised") {
    def skewed(slowest: Double, median: Double, step: Double = 43000, count: Int = 2) = {
      val slow = PartitionTimes(3, "1", slowest, slowest, Some(slowest), 190)
      val work = times(step)
      val of = work.stages.map(stage =>
        stage.copy(nodes =
          stage.nodes.map(_.copy(partitions = NodePartitions(count, median, slowest, Seq(slow))))
        )
      )
      work.copy(stages = of)
    }
    def text(work: BatchTimes, of: AgeParts = parts(work = 940)) = said(withoutInterval(batch(of, work)))._3
    val spread =
      "Partition 3 takes 42 s, and the median of 2 partitions 2.2 s: spread its records over the others. More cores do not help."
    assert(text(skewed(42000, 2200)) === s"Slowest step: scored, 940 ms of 1 s (94 %). $spread")
    assert(text(
      skewed(42000, 2200),
      parts(before = 41000)
    ).endsWith(s" A batch takes 46 s, 43 s of it at scored. $spread"))
    assert(text(skewed(42000, 2200), parts(backlog = 940)).endsWith(
      s" A batch takes 46 s, 43 s of it at scored. $spread Raise the limit, or make the batch faster."
    ))
    val faster = "Make that faster, or give it more cores."
    assert(text(skewed(42000, 21000)).endsWith(faster), "not more than twice the median")
    assert(text(skewed(42000, 20999)).endsWith("do not help."))
    assert(text(skewed(1100, 101, step = 1100)).endsWith(faster), "less than a second more")
    assert(text(skewed(1100, 100, step = 1100)).endsWith("do not help."))
    assert(text(skewed(21500, 2200)).endsWith(faster), "many partitions wait for cores")
    assert(text(skewed(21501, 2200)).endsWith("do not help."))
    val several = "All its records are in one partition: spread them over several. More cores do not help."
    assert(text(skewed(43000, 43000, count = 1)) === s"Slowest step: scored, 940 ms of 1 s (94 %). $several")
    assert(text(skewed(1000, 1000, step = 1000, count = 1)).endsWith(several))
    assert(text(skewed(999, 999, step = 999, count = 1)).endsWith(faster), "less than a second")
    // What others in its stage take is not its own.
    val shared = skewed(42000, 2200)
    val others = shared.copy(stages = shared.stages.map(_.copy(endMs = 98000)))
    assert(text(others).endsWith("do not help."))
    // What its stage took is not a source's own.
    def scanned(ms: Double) = {
      val slow = PartitionTimes(3, "1", 5000, 5000, Some(5000), 190)
      val source = NodeTimes("source", Some(0), ms, 0, "1", NodePartitions(1000, 2000, 5000, Seq(slow)))
      times(0).copy(stages =
        Seq(
          StageTimes(Nil, 0, ms, 1000, Seq(source), Seq("source"), ms),
          StageTimes(Seq(0), ms, ms, 1, Seq(NodeTimes("scored", Some(0), ms, 0, "1")), Seq("scored"), 0)
        )
      )
    }
    assert(text(scanned(10000)).startsWith("Slowest step: the stage of source, "))
    assert(text(scanned(10000)).endsWith(faster), "many partitions wait for cores")
    assert(text(scanned(9999)).endsWith("do not help."))
    // What another batch took says nothing of partitions.
    val another = batch(parts(before = 41000), skewed(42000, 2200))
      .copy(before = Some(Filling(100000, Filling.Node, Seq("scored"), 90000)))
    assert(said(another)._3.endsWith(s"The batch before took 1.7 min, 1.5 min of it at scored. $faster"))
  }

  test(
    "a last stage behind a shuffle that has one node is told as a stage, for the sink may write row by row in it"
  ) {
    def at(id: String, ms: Double, end: Double) = Seq(NodeTimes(id, Some(ms), end, 0, "1"))
    val last = times(0).copy(stages =
      Seq(
        StageTimes(Nil, 0, 1000, 1, at("source", 0, 1000), Seq("source"), 1000),
        StageTimes(Seq(0), 1000, 9200, 1, at("scored", 8200, 9200), Seq("scored"), 0)
      )
    )
    // Read from 10,200 to 19,400, and committed at 19,500: on average rows have left the node 5.2 s after the first read.
    def slow(parts: AgeParts) =
      batch(parts, last).copy(committedMs = 19500, admission = Some(admission.copy(tookMs = 9500)))
    val one = slow(parts(work = 5200, commit = 4100))
    assert(said(one) === ((
      "slowest-step",
      Some("scored"),
      "Slowest step: the stage of scored, 8.6 s of 9.4 s (92 %). Make that faster, or give it more cores."
    )))
    assert(of(one).parts.of.map(part => part.name -> math.round(part.ms)).takeRight(3) === Seq(
      "work in the stage of source" -> 565,
      "work in the stage of scored" -> 8635,
      "commit" -> 100
    ))
    assert(said(slow(parts(before = 41000)))._3.endsWith(
      "A batch takes 9.5 s, 8.2 s of it in the stage of scored. Make that faster, or give it more cores."
    ))
    // A stage behind it takes its rows, and not the sink.
    val more = last.copy(stages =
      last.stages :+ StageTimes(Seq(1), 9200, 9300, 1, at("sink", 100, 9300), Seq("sink"), 0)
    )
    assert(said(slow(parts(before = 41000)).copy(times = Some(more)))._3.contains("8.2 s of it at scored."))
  }

  test("where records came in with an earlier batch, that one and the one before it are named") {
    val (own, before) = (
      Filling(60000, Filling.Node, Seq("source"), 50000),
      Filling(240000, Filling.Node, Seq("scored"), 200000)
    )
    val giving = batch(parts(before = 41000)).copy(before = Some(before), cameIn = Some(own))
    assert(said(giving)._3.endsWith(
      "The batch before took 4 min, 3.3 min of it at scored. Make that faster, or give it more cores."
    ))
    val limited = Some(admission.copy(limit = Some("maxOffsetsPerTrigger")))
    assert(said(giving.copy(parts = Some(parts(backlog = 41000)), admission = limited))._3.contains(
      "maxOffsetsPerTrigger admits no more. A batch takes 1 min, 50 s of it at source."
    ))
  }
}
