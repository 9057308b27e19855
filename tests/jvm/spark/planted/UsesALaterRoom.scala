package io.sparklatency.time

import io.sparklatency.figures.Measure

/** Planted: a class of the first room that uses a later one. `RoomsSuite` must find it. */
private final class UsesALaterRoom {
  def measure: Measure = Measure.Commit
}
