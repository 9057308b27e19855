package io.sparklatency

import io.sparklatency.recording.RecordingLevel
import io.sparklatency.recording.RecordingLevel.Debug
import io.sparklatency.recording.RecordingLevel.Info
import io.sparklatency.recording.RecordingLevel.None
import io.sparklatency.recording.RecordingLevel.Trace
import org.scalatest.funsuite.AnyFunSuite

class RecordingLevelSuite extends AnyFunSuite {

  test("a level records the nodes of its own level and of coarser ones; NONE records none") {
    def recorded(level: RecordingLevel) = RecordingLevel.ofNodes.filter(level.records)
    assert(recorded(None) === Seq())
    assert(recorded(Info) === Seq(Info))
    assert(recorded(Debug) === Seq(Info, Debug))
    assert(recorded(Trace) === Seq(Info, Debug, Trace))
  }

  test("levels are found by their name, in any case") {
    assert(RecordingLevel.all.forall(level => RecordingLevel.find(level.name.toLowerCase).contains(level)))
    assert(RecordingLevel.find("VERBOSE").isEmpty)
  }
}
