package io.sparklatency

import io.sparklatency.answer.Parts
import io.sparklatency.figures.NodeLatencies
import io.sparklatency.figures.QuerySnapshot
import io.sparklatency.path.LatencyPath
import org.scalatest.funsuite.AnyFunSuite

/** The parts of the age at the commit, as far as they are known. */
class PartsSuite extends AnyFunSuite {
  import Aged._
  import Answered._

  private def of(nodes: NodeLatencies*): Parts = answer(query(nodes: _*)).parts

  private def told(parts: Parts): Seq[(Seq[String], Double)] = parts.of.map(part => part.names -> part.ms)

  private val whole = of(node("source")(100, 300), node("sink", "source")(500, 700).committed(1000, 1200))

  test("queuing, processing and commit make up the age at the commit") {
    assert(told(whole) === Seq(
      Seq("source queuing") -> 200.0,
      Seq("processing") -> 400.0,
      Seq("commit") -> 500.0
    ))
    assert(whole.whole === Some(1100.0))
    assert(whole.of.map(_.share).sum === 1.0)
  }

  test("they are one sentence, and each has its own words") {
    assert(whole.text ===
      Some("source queuing 200 ms, processing 400 ms, commit 500 ms: 1.1 s on average in the last batch"))
    assert(whole.of.map(_.text) === Seq("source queuing 200 ms", "processing 400 ms", "commit 500 ms"))
  }

  test("without a node at the sources, queuing and processing are one part") {
    val parts = of(node("sink")(500).committed(600))
    assert(told(parts) === Seq(Seq("source queuing", "processing") -> 500.0, Seq("commit") -> 100.0))
    assert(parts.text ===
      Some("source queuing and processing 500 ms, commit 100 ms: 600 ms on average in the last batch"))
  }

  test("where nodes go by two timestamps of a record, queuing and processing are one part") {
    val dated = node("slow", "source")(1100, 1300).by("event_time", isAnother = true)
    assert(told(of(node("source")(100, 300), dated, node("sink", "slow")(1250, 1450))) ===
      Seq(Seq("source queuing", "processing") -> 1350.0))
  }

  test("gauges tell of those parts alone that are told") {
    def gauged(query: QuerySnapshot): Seq[(String, Long)] =
      Parts.metrics.flatMap(metric => metric.read(query).map(metric.field -> _))
    assert(gauged(query(node("source")(100, 300), node("sink", "source")(500, 700).committed(1000, 1200))) ===
      Seq("source-queuing" -> 200, "processing" -> 400, "commit" -> 500))
    assert(gauged(query(node("sink")(500).committed(600))) ===
      Seq("commit" -> 100, "source-queuing+processing" -> 500))
    val endless = withoutEnd(node("source")(95), node("scored", "source")(98), node("sink", "scored")(99))
    assert(gauged(endless) === Seq("source-queuing" -> 95, "work" -> 4))
  }

  test("without a commit the parts make up the age at the end") {
    val parts = of(node("source")(1), node("sink", "source")(3))
    assert(told(parts) === Seq(Seq("source queuing") -> 1.0, Seq("processing") -> 2.0))
    assert(parts.whole === Some(3.0))
  }

  test("where fewer, and younger, records reach the end than came in, a part is negative and has no share") {
    val parts = of(node("source")(100, 900), node("sink", "source")(200).committed(300))
    assert(parts.of.map(_.ms) === Seq(500, -300, 100))
    assert(parts.of.map(_.share) === Seq(500.0 / 600, 0, 100.0 / 600))
  }

  test(
    "before the first batch with records nothing is known, and of one in which none came to the end neither"
  ) {
    for (
      unknown <- Seq(
        of(node("source")(), node("sink", "source")()),
        of(node("source")(1), node("sink", "source")())
      )
    ) assert((unknown.of, unknown.whole, unknown.text) === ((Nil, None, None)))
  }

  test("they are of the last batch, also while the window has other records") {
    val last = query(node("source")(100), node("sink", "source")(500).committed(600))
    val window = query(node("source")(900), node("sink", "source")(5000).committed(6000))
    val both = last.copy(nodes = window.nodes.zip(last.nodes).map { case (shown, of) =>
      shown.copy(batch = of.batch)
    })
    assert(answer(both).parts === answer(last).parts)
    assert(answer(both).split.committed.max === Some(600))
    assert(answer(
      both
    ).headline.text === "Slowest step: sink, 4.1 s of 5 s (82 %). Make that faster, or give it more cores.")
  }

  test("where no batch ends they are of the window, from node to node") {
    val running = withoutEnd(node("source")(95), node("scored", "source")(98), node("sink", "scored")(99))
    assert(answer(running).parts.text ===
      Some(
        "source queuing 95 ms, work at scored 3 ms, work at sink 1 ms: 99 ms on average within the last 1 min"
      ))
    assert(answer(running).parts.of.map(_.nodes) === Seq(Nil, Seq("scored"), Seq("sink")))
    assert(answer(running).headline.text === "Records are old when they are read, 95 ms of 99 ms (96 %). " +
      "They arrive old, or wait for a busy task. No task has told how long its operators are at work.")
    assert(answer(running.copy(activity = None)).parts.of === Nil)
  }

  test("of many nodes without an end the four longest are told one by one, and the others together") {
    val ages = Seq(1L, 3, 4, 14, 34, 35, 65)
    val nodes = ages.zipWithIndex.map { case (ms, i) =>
      node(s"n$i", Seq(s"n${i - 1}").filter(_ => i > 0): _*)(ms)
    }
    assert(answer(withoutEnd(nodes: _*)).parts.of.map(part => part.name -> part.ms) === Seq(
      "source queuing" -> 1.0,
      "work at n1" -> 2.0,
      "work at n3" -> 10.0,
      "work at n4" -> 20.0,
      "work at n6" -> 30.0,
      "work elsewhere" -> 2.0
    ))
  }

  test("where no batch ends and records come on more than one way, their work is one part") {
    val two = withoutEnd(node("left")(10), node("right")(30), node("sink", "left", "right")(50, 50))
    assert(told(answer(two).parts) === Seq(Seq("source queuing") -> 20.0, Seq("processing") -> 30.0))
    val only = withoutEnd(node("sink")(50))
    assert(told(answer(only).parts) === Seq(Seq("source queuing", "processing") -> 50.0))
    assert(answer(withoutEnd(node("source")(10), node("sink", "source")())).parts.of === Nil)
  }

  test("parts and the differences of a split are one formula") {
    val nodes = Seq(node("source")(100, 900), node("sink", "source")(200).committed(300))
    val split = new LatencyPath(nodes).split
    assert(of(nodes: _*).of.map(_.ms) ===
      Seq(split.queuing.avg, split.processing.flatMap(_.avg), split.commit.flatMap(_.avg)).flatten)
    // What no record reached has no difference from what some did.
    assert(new LatencyPath(Seq(node("source")(1), node("sink", "source")())).split.processing === None)
  }
}
