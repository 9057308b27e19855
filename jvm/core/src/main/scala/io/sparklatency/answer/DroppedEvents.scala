package io.sparklatency.answer

import io.sparklatency.figures.Figure.Whole

/** Events that Spark has dropped, because too many waited for us. Without state, for any thread. */
private[answer] object DroppedEvents {
  def note(count: Long): Option[Note] = Option.when(count > 0)(Note(
    "events-dropped",
    Note.Warn,
    s"Since the application began Spark has dropped ${Readable.counted(count, "event", "events")} that figures are made of: batches may " +
      "be missing, and counts too low. A higher spark.scheduler.listenerbus.eventqueue.sparklatency.capacity makes room for more.",
    numbers = Seq("events" -> Whole(count))
  ))
}
