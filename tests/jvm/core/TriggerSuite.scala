package io.sparklatency

import io.sparklatency.figures.Admission
import io.sparklatency.figures.Trigger
import org.scalatest.funsuite.AnyFunSuite

/** What a trigger and the one before it say of what held records back. The one before came at 1,000 and took four seconds. */
class TriggerSuite extends AnyFunSuite {
  private val offsets = Trigger.Limit("maxOffsetsPerTrigger", isCertain = true)
  private val files = Trigger.Limit("maxFilesPerTrigger", isCertain = false)

  private val before = Trigger(1000, 100, 4000, intervalMs = Some(0))
  private val backToBack = Admission(1100, 1100, 5000, 5001, 2000, None, Some(0))

  private def at(startMs: Long, before: Trigger = before): Admission =
    Trigger(startMs, 5, 2000, intervalMs = before.intervalMs).admission(Some(before.after(None)))

  test("of the first trigger nothing is known but that it came") {
    assert(before.admission(None) === Admission.first(1000, 4000))
  }

  test("records that the batch before did not see waited for its end, and then for the trigger") {
    assert(at(5001) === backToBack)
  }

  test(
    "what Spark still does after the end of a batch is no trigger that found nothing: a tenth of the batch"
  ) {
    assert(at(5415) === backToBack.copy(startMs = 5415))
    assert(at(5416) === Admission(5401, 5401, 5401, 5416, 2000, None, Some(0)))
  }

  test("with an interval a trigger in between found nothing as soon as there was room for one") {
    val each = before.copy(intervalMs = Some(6000))
    assert(at(7000, each) === Admission(1100, 1100, 5000, 7000, 2000, None, Some(6000)))
    assert(at(13000, each) === Admission(7000, 7000, 7000, 13000, 2000, None, Some(6000)))
  }

  test("what a source leaves that waits for more records was there since the batch before had looked") {
    def of(startMs: Long, before: Trigger) =
      Trigger(
        startMs,
        5,
        2000,
        intervalMs = before.intervalMs,
        keeping = Some(Trigger.Keeping("minOffsetsPerTrigger", 900000))
      ).admission(Some(before.after(None)))
    val few = Admission(1100, 90985, 90985, 91000, 2000, Some("minOffsetsPerTrigger"), Some(0))
    assert(of(91000, before) === few)
    assert(of(91000, before.copy(intervalMs = Some(6000))) ===
      few.copy(fixedMs = 85000, endedMs = 85000, intervalMs = Some(6000)))
    assert(of(5001, before) === backToBack, "there was no trigger in between")
    assert(of(1000000, before).sinceMs === 99985, "it keeps none for longer than it may")
    val both = before.copy(limit = Some(offsets))
    assert(of(91000, both) === few.copy(fromFirst = true), "the limit left too few")
    assert(of(5001, both).limit === Some("maxOffsetsPerTrigger"))
  }

  test("what a source keeps while others are read was there since it gave all") {
    val keeps = Trigger.Limit("minOffsetsPerTrigger", isCertain = true)
    def of(startMs: Long) =
      Trigger(
        startMs,
        5,
        2000,
        Some(keeps),
        intervalMs = Some(0),
        keeping = Some(Trigger.Keeping("minOffsetsPerTrigger", 900000))
      )
    val second = of(5001).after(Some(before.after(None)))
    val third = of(91000).after(Some(second))
    assert(of(93010).admission(Some(third)) ===
      Admission(1100, 91005, 93000, 93010, 2000, Some("minOffsetsPerTrigger"), Some(0)))
    assert(of(99000).admission(Some(third)).sinceMs === 1100, "though no other came for a while")
  }

  test("Kafka has kept nothing for a run that found nothing at first, and a reader in Python may have") {
    def of(keeping: Option[Trigger.Keeping]) =
      Trigger(91000, 5, 2000, None, Some(0), keeping = keeping)
        .admission(Some(Trigger.ofNothing(1000, keeping)))
    val few = Admission(82985, 90985, 90985, 91000, 2000, Some("minOffsetsPerTrigger"), Some(0))
    assert(of(Some(Trigger.Keeping("minOffsetsPerTrigger", 8000))) === few)
    assert(of(Some(Trigger.Keeping("minOffsetsPerTrigger", 900000))) === few.copy(sinceMs = 1000))
    assert(of(Some(Trigger.Keeping("ReadMinRows", Long.MaxValue))) ===
      few.copy(sinceMs = 1000, limit = Some("ReadMinRows"), fromFirst = true))
  }

  test("a trigger that is not at once and has no interval tells of no other") {
    val once = before.copy(intervalMs = None)
    assert(at(90000, once) === Admission(1100, 1100, 5000, 90000, 2000, None, None))
  }

  test("what a source says is left is there for the next trigger, however late it comes") {
    assert(at(90000, before.copy(limit = Some(offsets))) ===
      Admission(1100, 1100, 5000, 90000, 2000, Some("maxOffsetsPerTrigger"), Some(0), fromFirst = true))
  }

  test("a limit leaves records behind since the first trigger in a row that it cut") {
    val second = Trigger(
      5020,
      5,
      4000,
      Some(offsets),
      Some(0)
    ).after(Some(before.copy(limit = Some(offsets)).after(None)))
    assert(Trigger(9040, 5, 4000, Some(offsets), Some(0)).admission(Some(second)) ===
      Admission(1100, 5025, 9020, 9040, 4000, Some("maxOffsetsPerTrigger"), Some(0), fromFirst = true))
  }

  test("what a limit leaves first was there since the trigger before had looked, as what it lets in") {
    def left(startMs: Long, keeping: Option[Trigger.Keeping] = None) = {
      val cut = Trigger(startMs, 5, 4000, Some(offsets), Some(0), keeping = keeping)
      Trigger(startMs + 4010, 5, 2000, None, Some(0)).admission(Some(cut.after(Some(before.after(None)))))
    }
    assert(left(5001) === Admission(1100, 5006, 9001, 9011, 2000, Some("maxOffsetsPerTrigger"), Some(0)))
    assert(left(90000).sinceMs === 89985, "a trigger in between found nothing")
    assert(left(90000, Some(Trigger.Keeping("minOffsetsPerTrigger", 60000))).sinceMs === 29985, "or too few")
  }

  test("a limit has left records behind since the first trigger until one finds nothing more") {
    val cut = Trigger(5020, 5, 4000, Some(offsets), Some(0))
    def next(before: Trigger) = Trigger(before.startMs + 4020, 5, 4000, Some(offsets), Some(0))
    val second = cut.after(Some(before.copy(limit = Some(offsets)).after(None)))
    assert(next(second).admission(Some(second)).fromFirst)
    val third = next(second).after(Some(second))
    assert(next(third).admission(Some(third)).fromFirst)
    val later = cut.after(Some(before.after(None)))
    val muchLater = next(later).after(Some(later))
    assert(!next(muchLater).admission(Some(muchLater)).fromFirst, "the first had left none")
    assert(!third.copy(startMs = 90000).after(Some(third.copy(limit = None))).fromFirst)
  }

  test("a run that first does again what an earlier one had begun has left what came meanwhile") {
    val again = before.copy(lookedMs = 0, isAgain = true).after(None)
    val second = Trigger(5001, 100, 2000, Some(offsets), Some(0))
    val fromFirst = Admission(1000, 1000, 5000, 5001, 2000, None, Some(0), fromFirst = true)
    assert(second.admission(Some(again)) === fromFirst)
    assert(Trigger(7002, 5, 2000, None, Some(0)).admission(Some(second.after(Some(again)))) ===
      Admission(1000, 5101, 7001, 7002, 2000, Some("maxOffsetsPerTrigger"), Some(0), fromFirst = true))
    val idle = second.copy(startMs = 90000)
    assert(idle.admission(Some(again)) === Admission(89890, 89890, 89890, 90000, 2000, None, Some(0)))
    assert(!idle.after(Some(again)).fromFirst, "a trigger in between found nothing")
  }

  test("a batch that took as many files as it may left none, where a trigger after it found nothing") {
    val full = before.copy(limit = Some(files)).after(None)
    val near = Trigger(5100, 5, 4000, Some(files), Some(0))
    assert(Trigger(9200, 5, 4000, None, Some(0)).admission(Some(near.after(Some(full)))) ===
      Admission(1100, 5105, 9100, 9200, 4000, Some("maxFilesPerTrigger"), Some(0), fromFirst = true))
    val far = near.copy(startMs = 6100)
    assert(far.admission(Some(full)).sinceMs === 6085)
    assert(Trigger(10200, 5, 4000, None, Some(0)).admission(Some(far.after(Some(full)))) ===
      Admission(6085, 6105, 10100, 10200, 4000, Some("maxFilesPerTrigger"), Some(0)))
  }

  test("files that came after the batch before had looked were not left by its limit") {
    val full = before.copy(limit = Some(files)).after(None)
    def next(cameMs: Long) = Trigger(5001, 5, 2000, Some(files), Some(0), cameMs = Some(cameMs))
    val limited = backToBack.copy(limit = Some("maxFilesPerTrigger"))
    assert(next(1100).after(Some(full)).fromFirst)
    assert(!next(1101).after(Some(full)).fromFirst)
    assert(next(1101).admission(Some(full)) === limited)
    def third(cameMs: Long) = Trigger(7010, 5, 2000, None, Some(0), cameMs = Some(cameMs))
      .admission(Some(next(1100).after(Some(full))))
    assert(third(5006) === Admission(
      1100,
      5006,
      7001,
      7010,
      2000,
      Some("maxFilesPerTrigger"),
      Some(0),
      fromFirst = true
    ))
    assert(third(5007) === Admission(5006, 5006, 7001, 7010, 2000, Some("maxFilesPerTrigger"), Some(0)))
  }

  test("of a long batch Spark needs no more than a second after its end") {
    val long = before.copy(tookMs = 60000)
    assert(at(62015, long) === Admission(1100, 1100, 61000, 62015, 2000, None, Some(0)))
    assert(at(62016, long) === Admission(62001, 62001, 62001, 62016, 2000, None, Some(0)))
  }

  test("a file that has just come says nothing of what a source said is left") {
    val cut = before.copy(limit = Some(offsets)).after(None)
    val second = Trigger(5001, 5, 2000, Some(offsets), Some(0), cameMs = Some(4000)).after(Some(cut))
    assert(second.limitedSinceMs === Some(1100))
    assert(Trigger(7010, 5, 2000, None, Some(0), cameMs = Some(7000)).admission(Some(second)) ===
      Admission(1100, 5006, 7001, 7010, 2000, Some("maxOffsetsPerTrigger"), Some(0), fromFirst = true))
  }

  test("where the newest files are read first, those that came before are left since the limit first cut") {
    val full = before.copy(limit = Some(files)).after(None)
    def next(cameMs: Long) =
      Trigger(5001, 5, 2000, Some(files), Some(0), None, Some(cameMs), isNewestFirst = true)
    assert(next(4000).admission(Some(full)) === backToBack.copy(limit = Some("maxFilesPerTrigger")))
    val second = next(4000).after(Some(full))
    assert(second.limitedSinceMs === Some(1100))
    assert(Trigger(
      7010,
      5,
      2000,
      None,
      Some(0),
      None,
      Some(900),
      isNewestFirst = true
    ).admission(Some(second)) ===
      Admission(1100, 5006, 7001, 7010, 2000, Some("maxFilesPerTrigger"), Some(0), fromFirst = true))
  }
}
