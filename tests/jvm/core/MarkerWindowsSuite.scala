package io.sparklatency

import io.sparklatency.figures.MarkerSettings

/** What stands for latency markers where no batch ends. */
class MarkerWindowsSuite extends MarkedRuns {
  test(
    "where no batch ends, a second of a task tells how long its rows took on average; one without rows tells nothing"
  ) {
    val run = new Run(second, chain("a", "b", "c"))
    run.endless()
    run.tells(1, 1000)(("a", 0, 10), ("b", 100, 10), ("c", 200, 10))
    assert(run.found.count === 0)
    run.tells(1, 2000)(("a", 0, 20), ("b", 300, 20), ("c", 600, 19))
    assert(run.histograms === Map("a > b.1" -> ((1, 20, 20)), "a > c.1" -> ((1, 44, 44))))
    run.tells(1, 3000)(("a", 0, 20), ("b", 300, 20), ("c", 600, 19))
    assert(run.found.count === 1, "no row came")
    run.tells(1, 3500)(("a", 0, 40), ("b", 500, 40), ("c", 1100, 20))
    assert(
      run.histograms === Map("a > b.1" -> ((2, 10, 20)), "a > c.1" -> ((1, 44, 44))),
      "c lets other rows pass"
    )
  }

  test("where a task reads its source anew with each epoch, a second of it is one marker") {
    val run = new Run(second, chain("a", "b"))
    run.endless()
    run.tells(1, 1000)(("a", 0, 10), ("b", 100, 10))
    run.tells(1, 2000)(("a", 0, 20), ("b", 300, 20), ("a", 0, 20))
    assert(run.found.count === 1)
    assert(run.histograms === Map("a > b.1" -> ((1, 20, 20))))
  }

  test("where no batch ends, each task is marked when the interval has passed since it was") {
    val run = new Run(MarkerSettings(Some(3000)), chain("a", "b"))
    run.endless()
    for (ms <- 1000L to 8000L by 1000L; task <- 1 to 2)
      run.tells(task.toLong, ms)(("a", 0, ms), ("b", ms / 2f, ms))
    assert(run.found.count === 6)
    run.live.taskEnded(1, stage = 0, hasFailed = false)
    run.tells(1, 12000)(("a", 0, 12000), ("b", 6000, 12000))
    assert(run.found.count === 6)
  }
}
