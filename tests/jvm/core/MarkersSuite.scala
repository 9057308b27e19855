package io.sparklatency

import io.sparklatency.answer.Markers
import io.sparklatency.figures.Granularity
import io.sparklatency.figures.MarkerSettings

/** Which way the latency markers of a batch go, and how long they take there. */
class MarkersSuite extends MarkedRuns {
  import MarkedRuns._

  test(
    "within a stage a marker goes from partition to partition, and to the commit; an empty partition has one too"
  ) {
    val run = new Run(second, chain("s", "o"))
    run.batch(100)(
      At("s", 0, 0, 10, records = 5),
      At("o", 0, 0, 30, records = 5),
      At("s", 1, 20, 21, records = 0),
      At("o", 1, 20, 22, records = 0)
    )
    assert(run.histograms === Map(
      "s > s.0" -> ((1, 10, 10)),
      "s > s.1" -> ((1, 1, 1)),
      "s > o.0" -> ((1, 30, 30)),
      "s > o.1" -> ((1, 2, 2)),
      "s > __commit__" -> ((2, 80, 100))
    ))
  }

  test("a marker is marked when its task asks for the first row, and not while it gets ready for that") {
    val run = new Run(second, chain("s", "o"))
    run.batch(100)(At("s", 0, 0, 30, read = 20), At("o", 0, 0, 30, read = 20))
    assert(run.histograms ===
      Map("s > s.0" -> ((1, 10, 10)), "s > o.0" -> ((1, 10, 10)), "s > __commit__" -> ((1, 80, 80))))
  }

  test("behind a shuffle each partition has the markers of all partitions before it") {
    for (granularity <- Seq(Granularity.Operator, Granularity.Subtask)) {
      val run = new Run(MarkerSettings(Some(1000), granularity), chain("s", "o", "end"))
      run.batch(500)(
        At("s", 0, 0, 100),
        At("o", 0, 0, 110),
        At("s", 1, 40, 300),
        At("o", 1, 40, 310),
        At("end", 0, 320, 400, stage = 2, task = Some(7)),
        At("end", 1, 330, 330, stage = 2, task = Some(8))
      )
      val end = named(run.histograms, "end")
      if (granularity == Granularity.Operator)
        assert(end === Map("s > end.0" -> ((2, 360, 400)), "s > end.1" -> ((2, 290, 330))))
      else assert(end === Map(
        "s.0 > end.0" -> ((1, 400, 400)),
        "s.1 > end.0" -> ((1, 360, 360)),
        "s.0 > end.1" -> ((1, 330, 330)),
        "s.1 > end.1" -> ((1, 290, 290))
      ))
    }
  }

  test(
    "a partition of a union has the markers of its own side, and one that joins several partitions those of all"
  ) {
    val run =
      new Run(MarkerSettings(Some(1000), Granularity.Subtask), Map("u" -> Set("a", "b"), "c" -> Set("u")))
    run.batch(100)(
      At("a", 0, 0, 10, task = Some(1)),
      At("u", 0, 0, 12, task = Some(1)),
      At("b", 0, 20, 30, task = Some(2)),
      At("u", 1, 20, 35, task = Some(2))
    )
    assert(named(run.histograms, "u") === Map("a.0 > u.0" -> ((1, 12, 12)), "b.0 > u.1" -> ((1, 15, 15))))
    val joined = new Run(MarkerSettings(Some(1000), Granularity.Subtask), chain("s", "o", "end"))
    joined.batch(100)(
      At("s", 0, 0, 10, task = Some(1)),
      At("o", 0, 0, 10, task = Some(1)),
      At("s", 1, 10, 20, task = Some(1)),
      At("o", 1, 10, 20, task = Some(1)),
      At("end", 0, 0, 25, task = Some(1))
    )
    assert(named(joined.histograms, "end") === Map(
      "s.0 > end.0" -> ((1, 25, 25)),
      "s.1 > end.0" -> ((1, 15, 15))
    ))
    assert(named(joined.histograms, "o") === Map("s.0 > o.0" -> ((1, 10, 10)), "s.1 > o.1" -> ((1, 10, 10))))
  }

  test("a side of a union has no marker of a side behind a shuffle, and has that of a broadcast before it") {
    def bySubtask(upstream: (String, Set[String])*) =
      new Run(MarkerSettings(Some(1000), Granularity.Subtask), upstream.toMap)
    val run = bySubtask("u" -> Set("a", "b"))
    run.batch(100)(
      At("b", 0, 0, 10, stage = 1),
      At("a", 0, 20, 30, stage = 2, task = Some(1)),
      At("u", 0, 20, 32, stage = 2, task = Some(1)),
      At("u", 1, 20, 35, stage = 2, task = Some(2))
    )
    assert(named(run.histograms, "u") === Map("a.0 > u.0" -> ((1, 12, 12)), "b.0 > u.1" -> ((1, 35, 35))))
    val joined = bySubtask("j" -> Set("a", "b"), "u" -> Set("j", "c"))
    joined.batch(100)(
      At("b", 0, 0, 10, stage = 1),
      At("c", 0, 5, 10, stage = 2, task = Some(3)),
      At("a", 0, 20, 30, stage = 3, task = Some(4)),
      At("j", 0, 20, 32, stage = 3, task = Some(4)),
      At("u", 0, 20, 33, stage = 3, task = Some(4)),
      At("u", 1, 20, 35, stage = 3, task = Some(5))
    )
    assert(named(joined.histograms, "j") === Map("a.0 > j.0" -> ((1, 12, 12)), "b.0 > j.0" -> ((1, 32, 32))))
    // What a task behind a shuffle reads is of any source before it.
    assert(named(joined.histograms, "u") === Map(
      "a.0 > u.0" -> ((1, 13, 13)),
      "b.0 > u.0" -> ((1, 33, 33)),
      "b.0 > u.1" -> ((1, 35, 35)),
      "c.0 > u.1" -> ((1, 30, 30))
    ))
  }

  test("two attempts at a task count once: the marker is that of the newer") {
    val run = new Run(second, chain("s", "o"))
    run.batch(100)(
      At("s", 0, 0, 10),
      At("o", 0, 0, 30),
      At("s", 0, 50, 60, attempt = 2),
      At("o", 0, 50, 70, attempt = 2)
    )
    assert(run.found.count === 1)
    assert(run.histograms ===
      Map("s > s.0" -> ((1, 10, 10)), "s > o.0" -> ((1, 20, 20)), "s > __commit__" -> ((1, 50, 50))))
  }

  test(
    "a source that is read twice in a batch, as in a self-join, counts once, and its marker is that of the first"
  ) {
    val run = new Run(second, chain("s", "o"))
    run.batch(100)(
      At("s", 0, 0, 10, stage = 1),
      At("s", 0, 20, 40, stage = 2, planning = 1),
      At("o", 0, 50, 80, stage = 3)
    )
    assert(run.found.count === 1)
    assert(run.histograms("s > o.0") === ((1, 80, 80)) && run.histograms("s > __commit__") === ((
      1,
      100,
      100
    )))
  }

  test("clocks are corrected, and what they cannot explain keeps its sign") {
    val run = new Run(second, chain("s", "end"))
    run.batch(200, Map("ahead" -> 50000L))(
      At("s", 0, 150, 160, executor = "ahead"),
      At("end", 0, 120, 180, stage = 2, executor = "right", task = Some(9))
    )
    assert(named(run.histograms, "end") === Map("s > end.0" -> ((1, 80, 80))))
    run.batch(1500)(
      At("s", 0, 1500, 1510, executor = "unknown"),
      At("end", 0, 1460, 1470, stage = 2, executor = "right", task = Some(9))
    )
    assert(named(run.histograms, "end") === Map("s > end.0" -> ((2, -30, 80))))
  }

  test("a batch that reads no source carries no marker, and a new run of the query begins anew") {
    val run = new Run(second, chain("s", "o"))
    run.batch(100)(At("s", 0, 0, 10), At("o", 0, 0, 30))
    run.batch(5100)(At("o", 0, 5000, 5030))
    assert(run.found.count === 1)
    val before = run.shown.markers.toSeq
    run.restart()
    run.batch(9100)(At("s", 0, 9000, 9010), At("o", 0, 9000, 9040))
    assert(run.histograms("s > o.0") === ((1, 40, 40)))
    val (gone, now) = (before.map(_._2), run.shown.markers.values.toSeq)
    assert(now.size === before.size && !now.exists(figures => gone.exists(_ eq figures)))
  }

  test("the events of batches make the markers of the run, with the partitions of each node together") {
    val run = new Run(second, chain("s", "o"))
    run.batch(100)(At("s", 0, 0, 10), At("o", 0, 0, 30), At("s", 1, 20, 21), At("o", 1, 20, 22))
    run.batch(500)(At("s", 0, 400, 410), At("o", 0, 400, 440))
    run.batch(1500)(At("s", 0, 1400, 1410), At("o", 0, 1400, 1450))
    assert(run.events.map(_.markers.map(_.count)) === Seq(Some(2), None, Some(1)))
    val read = run.replayed.markers.get
    assert(read.of.map(one => name(one.key) -> ((one.figures.total.count, one.last.max))) ===
      Seq("s > s" -> ((3, Some(10))), "s > o" -> ((3, Some(50))), "s > __commit__" -> ((3, Some(100)))))
    val window = read.of(1).figures.window
    assert((window.min, window.avg, window.max) === ((Some(2), Some(82.0 / 3), Some(50))))
    assert((read.settings, read.count, read.markedMs) === ((run.found.settings, 3, run.found.markedMs)))
    assert(Markers.text(read) === Markers.text(run.found))
  }

  test("a sentence says how long they take to the commit, of the slowest source") {
    val run = new Run(second, Map("o" -> Set("a", "b")))
    assert(run.live.snapshot().isEmpty)
    run.batch(400)(At("a", 0, 0, 10, task = Some(1)), At("b", 0, 100, 110, task = Some(2)))
    assert(Markers.text(run.found) ===
      "Latency markers take 400 ms from a to the commit, on average. At most one batch in 1 s carries them.")
    run.clock.advance(60000)
    assert(Markers.text(
      run.found
    ) === "Latency markers take 400 ms from a to the commit, on average in the last batch " +
      "that carried them. At most one batch in 1 s carries them.")
    run.batch(60200)(At("b", 0, 60100, 60110, task = Some(3)))
    assert(Markers.text(run.found) ===
      "Latency markers take 100 ms from b to the commit, on average. At most one batch in 1 s carries them.")
  }

  test("the first batch of each interval carries them, so under a trigger of the interval each batch does") {
    val run = new Run(second, chain("s", "o"))
    for (read <- Seq(300, 700, 1200, 2100, 2990, 3000))
      run.batch(read + 50L)(At("s", 0, read, read + 10), At("o", 0, read, read + 30))
    assert(run.events.map(_.markers.map(_.count)) === Seq(Some(1), None, Some(1), Some(1), None, Some(1)))
  }
}
