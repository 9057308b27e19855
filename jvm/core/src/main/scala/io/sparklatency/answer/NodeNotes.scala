package io.sparklatency.answer

import io.sparklatency.figures.Figure.Whole
import io.sparklatency.figures.Measure
import io.sparklatency.figures.MeasureSnapshot
import io.sparklatency.figures.NodeSnapshot
import io.sparklatency.figures.QuerySnapshot
import io.sparklatency.recording.LatencySummary

/** Records of a node that were dropped, were not measured, or came too early. All since the query started. */
private[answer] object NodeNotes {

  /** Kind by kind, the nodes of each in the order of the plan. */
  def of(query: QuerySnapshot): Seq[Note] = {
    val nodes = query.nodes
    nodes.flatMap(droppedLate(_, Measure.Lateness, "dropped-late", "the watermark")) ++
      nodes.flatMap(droppedLate(
        _,
        Measure.SystemTimeLateness,
        "dropped-late-by-system-time",
        "the system-time watermark"
      )) ++
      nodes.flatMap(withoutTimestamp(_, hasMarkers = query.markers.nonEmpty)) ++
      nodes.flatMap(node => aheadOfClock(node, query.isDatedAhead(node, _)))
  }

  private def droppedLate(node: NodeSnapshot, by: Measure, code: String, watermark: String): Option[Note] = {
    val late = total(node, by)
    Option.when(late.records > 0) {
      val furthest =
        late.max.fold("")(ms => s", up to ${Readable.duration(ms.toDouble)} behind $watermark")
      Note(
        code,
        Note.Info,
        s"${Readable.name(node.id)} dropped ${Readable.counted(late.records, "late record", "late records")}$furthest.",
        Some(node.id),
        Seq("records" -> Whole(late.records)) ++ late.max.map("maxMs" -> Whole(_))
      )
    }
  }

  /** @param hasMarkers whether the query has latency markers: then a node is of use without a timestamp too */
  private def withoutTimestamp(node: NodeSnapshot, hasMarkers: Boolean): Option[Note] = {
    val all = total(node, Measure.E2ELatency)
    val (records, without) = (all.records, all.withoutTimestamp)
    val numbers = Seq("records" -> Whole(records), "withoutTimestamp" -> Whole(without))
    def note(code: String, level: Note.Level, text: String) =
      Some(Note(code, level, s"${Readable.name(node.id)}: $text", Some(node.id), numbers))
    if (without == 0) None
    else if (without == records && hasMarkers)
      note("no-timestamp", Note.Info, "no record has a timestamp, so ages are not known. Markers need none.")
    else if (without == records)
      note(
        "no-timestamp",
        Note.Wrong,
        "no record has a timestamp: each is null or before 1970. Mark it with another column."
      )
    else {
      val have = if (without == 1) "has no timestamp and is" else "have no timestamp and are"
      val text = s"${Readable.count(without)} of ${Readable.count(records)} records $have not measured."
      note("without-timestamp", Note.Warn, text)
    }
  }

  /** @param byWindows whether that is no wonder: so far ahead they may be results of windows that are still open */
  private def aheadOfClock(node: NodeSnapshot, byWindows: Option[Long] => Boolean): Option[Note] = {
    val all = total(node, Measure.E2ELatency)
    Option.when(all.aheadOfClock > 0) {
      val isDated = byWindows(all.maxLead)
      val ahead = Readable.counted(all.aheadOfClock, "record is", "records are")
      val furthest = all.maxLead.fold("")(ms => s", by up to ${Readable.duration(ms.toDouble)}")
      val odd =
        if (isDated) " They may be results of windows that are still open, dated by their end."
        else all.maxLead.fold("")(OddTimestamps.ahead)
      Note(
        "ahead-of-clock",
        if (isDated) Note.Info else Note.Warn,
        s"${Readable.name(node.id)}: $ahead ahead of the clock$furthest.$odd",
        Some(node.id),
        Seq("records" -> Whole(all.aheadOfClock)) ++ all.maxLead.map("maxLeadMs" -> Whole(_))
      )
    }
  }

  private def total(node: NodeSnapshot, measure: Measure): LatencySummary =
    node.measures.getOrElse(measure, MeasureSnapshot.empty).total
}
