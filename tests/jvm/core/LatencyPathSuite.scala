package io.sparklatency

import scala.concurrent.Await
import scala.concurrent.ExecutionContext.Implicits.global
import scala.concurrent.Future
import scala.concurrent.duration._

import io.sparklatency.figures.Measure
import io.sparklatency.figures.NodeLatencies
import io.sparklatency.figures.NodeTimestamp
import io.sparklatency.path.LatencyPath
import org.scalatest.funsuite.AnyFunSuite

class LatencyPathSuite extends AnyFunSuite {
  import Aged.node

  private val source = node("source")(100, 300)
  private val fast = node("fast", "source")(150, 350)
  private val slow = node("slow", "source")(1100, 1300)
  private val sink = node("sink", "fast", "slow")(1200, 1400)
  private val path = new LatencyPath(Seq(source, fast, slow, sink))

  test(
    "a node's own time is what it adds to the slowest before it, a source's the age that records come with"
  ) {
    assert(Seq(source, fast, slow, sink).map(path.own) === Seq(200, 50, 1000, 100).map(ms =>
      Some(ms.toDouble)
    ))
    assert(path.share(slow) === Some(1000 / 1300.0))
  }

  test("the critical path follows the slowest nodes, and the slowest step is the one on it that adds most") {
    assert(path.critical === Seq("source", "slow", "sink"))
    assert(path.slowestStep.map(_.id) === Some("slow"))
  }

  test("the split names queuing, processing and commit, which add up to the age at the commit") {
    val committed = sink.copy(measures = sink.measures + (Measure.Commit -> Aged.records(1500, 1700)))
    val split = new LatencyPath(Seq(source, slow, committed)).split
    assert(split.queuing.avg === Some(200.0))
    assert(split.processing.flatMap(_.avg) === Some(1100.0) && split.processing.exists(_.sameRecords))
    assert(split.commit.flatMap(_.avg) === Some(300.0))
    assert(split.committed.avg === Some(1600.0))
  }

  test(
    "where a node behind which none stands has no commit, and others have one, the query does not end there"
  ) {
    val committed = sink.copy(measures = sink.measures + (Measure.Commit -> Aged.records(1500, 1700)))
    val table = node("table")(86400000)
    val joined = new LatencyPath(Seq(source, slow, table, committed))
    assert(joined.terminals.map(_.id) === Seq("sink") && joined.critical === Seq("source", "slow", "sink"))
    assert((joined.atEnd(Measure.E2ELatency).avg, joined.whole) === ((Some(1300.0), Some(1300.0))))
    // As in real-time mode, where nothing commits.
    assert(new LatencyPath(Seq(source, slow, table, sink)).terminals.map(_.id) === Seq("table", "sink"))
  }

  private def anew(node: NodeLatencies) =
    node.copy(timestamp = Some(NodeTimestamp("event_time", isAnother = true)))

  test("ages by two timestamps of a record are not compared") {
    val dated = new LatencyPath(Seq(source, anew(slow), node("sink", "slow")(1250, 1450)))
    assert(dated.nodes.map(dated.own) === Seq(Some(200.0), None, Some(150.0)))
    assert(dated.nodes.map(dated.share) === Seq(Some(200 / 1350.0), None, Some(150 / 1350.0)))
    assert((dated.whole, dated.critical) === ((Some(1350.0), Seq("source", "slow", "sink"))))
    assert((dated.split.queuing.avg, dated.split.processing) === ((Some(200.0), None)))
    // A source has no node before it.
    assert(new LatencyPath(Seq(anew(source), slow)).own(source) === Some(200.0))
  }

  test("no step is the slowest where more time has passed between two timestamps of a record") {
    def slowest(between: Long) = {
      val dated = anew(node("dated", "source")(200 + between))
      new LatencyPath(Seq(source, dated, node("sink", "dated")(200 + between + 100))).slowestStep.map(_.id)
    }
    assert(Seq(0L, 200L, 201L, 1000L).map(slowest) === Seq(Some("source"), Some("source"), None, None))
  }

  test("of records that are not the same only the means are told apart") {
    val few = node("sink", "source")(2000)
    val processing = new LatencyPath(Seq(source, few)).split.processing
    assert(processing.map(delay => (delay.sameRecords, delay.min, delay.p99, delay.max)) ===
      Some((false, None, None, None)))
    assert(processing.flatMap(_.avg) === Some(1800.0))
  }

  test("differences of minimum, percentiles and maximum are told only where they are in order") {
    def told(upstream: Seq[Long], here: Seq[Long]) =
      new LatencyPath(Seq(node("source")(upstream: _*), node("sink", "source")(here: _*))).split.processing
        .map(delay => (delay.sameRecords, delay.min, delay.avg, delay.p50, delay.p99, delay.max))
    assert(told(Seq(10, 20, 30), Seq(15, 27, 39)) ===
      Some((true, Some(5), Some(7.0), Some(7), Some(9), Some(9))))
    // The youngest record came through slowly, so the least ages are further apart than the greatest.
    assert(told(Seq(10, 20, 30), Seq(36, 36, 36)) === Some((true, None, Some(16.0), None, None, None)))
    // The mean lies above the greatest difference.
    assert(told(Seq(0, 0, 0, 100), Seq(0, 50, 50, 100)) ===
      Some((true, None, Some(25.0), None, None, None)))
    // Each took 30. Percentiles are within 1 %, which is more at this age.
    assert(told(Seq(100000, 101000, 102000), Seq(100030, 101030, 102030)) ===
      Some((true, Some(30), Some(30.0), None, None, Some(30))))
  }

  test("of a lone node only the whole is known") {
    val split = new LatencyPath(Seq(node("sink")(5))).split
    assert(split.queuing.isEmpty && split.processing.isEmpty && split.commit.isEmpty)
    assert(new LatencyPath(Seq(node("sink")(5))).slowestStep === None, "there is no choice")
  }

  test("without records nothing is known, and nothing fails") {
    val path = new LatencyPath(Seq(node("source")(), node("sink", "source", "gone")()))
    assert(path.critical.isEmpty && path.slowestStep.isEmpty && path.split.queuing.isEmpty)
    assert(new LatencyPath(Nil).critical.isEmpty)
  }

  test("fewer or younger records downstream make a negative time, and no share") {
    val path = new LatencyPath(Seq(node("source")(100), node("sink", "source")(40)))
    val last = node("sink", "source")(40)
    assert(path.own(last) === Some(-60.0) && path.share(last) === Some(0.0))
  }

  test("the shares of the critical path add up to the whole, with a negative time on it or without") {
    val (read, merged, sink) = (node("read")(90), node("merge", "read")(30), node("sink", "merge")(60))
    val path = new LatencyPath(Seq(read, merged, sink))
    assert(Seq(read, merged, sink).map(path.own) === Seq(Some(90.0), Some(-60.0), Some(30.0)))
    assert(path.whole === Some(120.0))
    assert(Seq(read, merged, sink).map(path.share) === Seq(Some(0.75), Some(0.0), Some(0.25)))
    assert(this.path.whole === Some(1300.0))
    assert(Seq(source, slow, this.sink).flatMap(this.path.share(_)).sum === 1.0)
  }

  test("nodes of which some were folded into one may lead back: the path has each node once, and ends") {
    val back = Seq(node("__other__", "b")(300), node("b", "__other__")(200), node("sink", "b")(400))
    assert(Await.result(Future(new LatencyPath(back).critical), 30.seconds) === Seq("__other__", "b", "sink"))
  }

  test("where a part of the path is unknown, the whole is still the mean at its end") {
    // What comes from a batch without data has no node before it that read anything.
    val last = node("last", "merge")(150)
    val path = new LatencyPath(Seq(node("read")(), node("merge", "read")(120), last))
    assert(path.critical === Seq("merge", "last") && path.whole === Some(150.0))
    assert(path.share(last) === Some(0.2))
    assert(path.slowestStep === None, "more of it is unknown")
    val slower = node("last", "merge")(250)
    assert(new LatencyPath(Seq(
      node("read")(),
      node("merge", "read")(120),
      slower
    )).slowestStep.contains(slower))
  }
}
