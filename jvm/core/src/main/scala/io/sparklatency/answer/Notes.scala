package io.sparklatency.answer

import io.sparklatency.figures.Figure.Mean
import io.sparklatency.figures.Figure.Whole
import io.sparklatency.figures.Measure
import io.sparklatency.figures.MeasureSnapshot
import io.sparklatency.figures.NodeLatencies
import io.sparklatency.figures.NodeSnapshot
import io.sparklatency.figures.QuerySnapshot
import io.sparklatency.path.LatencyPath
import io.sparklatency.path.LatencyPath.Visible
import io.sparklatency.path.LatencySplit

/** All that is to be known about a query's figures, the most important first. */
private[answer] object Notes {

  /**
   * @param path  of what is shown
   * @param split of each node's last batch; where no batch ends, of the window
   * @param found what planning has found in it
   */
  def of(
      query: QuerySnapshot,
      path: LatencyPath,
      split: LatencySplit,
      found: Seq[Note]
  ): Seq[Note] = {
    val ofNodes = NodeNotes.of(query)
    ofRecords(query, found).toSeq ++ failedTasks(query) ++ lostExecutors(query) ++ quiet(query) ++
      youngerDownstream(path) ++ datedAnew(path) ++ ofNodes ++ droppedLate(query) ++
      Watermarks.note(query) ++ folded(query) ++ ofParts(query, split) ++
      unnamed.filter(_ => query.id.contains(query.name))
  }

  private def ofRecords(query: QuerySnapshot, found: Seq[Note]): Option[Note] =
    if (found.exists(SkippedBatches.is) && !hasRecords(query)) None
    else if (query.isUnmarked) Some(noNode(found.exists(LeftOut.is)))
    else if (!hasRecords(query)) Some(Note("no-record", Note.Info, "No record has come yet."))
    else Option.when(query.isSilent && !query.goesByMarkers) {
      // In continuous mode no batch ever ends.
      val shows = if (query.nodes.forall(_.lastLatency.isEmpty)) ""
      else s": each node shows its last batch${ago(query, query.nodes)}"
      Note(
        "silent",
        Note.Info,
        s"${silence(query)}$shows.",
        numbers = Seq("windowMs" -> Whole(query.covers.ms))
      )
    }

  /** What is said of a query to which none came within the window. */
  def silence(query: QuerySnapshot): String =
    s"No record with a timestamp came within the last ${Readable.duration(query.covers.ms.toDouble)}"

  private def noNode(isLeftOut: Boolean): Note = {
    val remedy =
      if (isLeftOut) "The notes on what is left out say why."
      else "Mark one by hand, or set spark.sparklatency.auto to have nodes marked when it starts."
    Note("no-node", Note.Info, s"${Progress.noNode} $remedy")
  }

  /** A warning as long as the window shows what it did to records. */
  private def failedTasks(query: QuerySnapshot): Option[Note] =
    query.failedTasks.filter(_.count > 0).map { failed =>
      val ms = for (at <- query.atMs; last <- failed.last) yield (at - last.atMs).max(0)
      val last = for (task <- failed.last; ms <- ms)
        yield s", the last ${Readable.duration(ms.toDouble)} ago: ${task.why.stripSuffix(".")}"
      val again = if (query.atMs.isEmpty) "" else " Spark runs such a task again, and its records wait."
      Note(
        "tasks-failed",
        if (ms.exists(_ <= query.covers.ms)) Note.Warn else Note.Info,
        s"${Readable.counted(failed.count, "attempt of a task has", "attempts of tasks have")} failed${last.getOrElse("")}.$again",
        numbers = ("tasks" -> Whole(failed.count)) +: ms.map(ms => "ms" -> Whole(ms)).toSeq
      )
    }

  /** Also where no task failed of it. A warning as long as the window shows what the last one did to records. */
  private def lostExecutors(query: QuerySnapshot): Option[Note] = for {
    at <- query.atMs
    gone = query.lostExecutors.filter(at - _.atMs <= LostMs)
    last <- gone.lastOption
  } yield {
    val ms = (at - last.atMs).max(0)
    val (id, ago) = (Readable.name(last.executor), Readable.duration(ms.toDouble))
    val (what, others, they) =
      if (gone.size == 1) (s"Executor $id was lost $ago ago", "another comes", "it")
      else {
        val all = Readable.count(gone.size.toLong)
        (
          s"$all executors were lost within the last ten minutes, the last one, $id, $ago ago",
          "others come",
          "they"
        )
      }
    Note(
      "executor-lost",
      if (ms <= query.covers.ms) Note.Warn else Note.Info,
      s"$what: ${last.why.stripSuffix(".")}. Until $others, fewer tasks run at a time, and state that $they kept is loaded anew.",
      numbers = Seq("executors" -> Whole(gone.size.toLong), "ms" -> Whole(ms))
    )
  }

  /** By then others have come, or the query is as it now is. */
  private val LostMs = 600000L

  private def quiet(query: QuerySnapshot): Option[Note] = Some(query.quiet).filter(_.nonEmpty).map { nodes =>
    val ids = nodes.map(_.id)
    val (shows, whose) = if (ids.size == 1) ("shows", "its") else ("show", "their")
    val names = Readable.nodes(ids)
    Note(
      "last-figures",
      Note.Info,
      s"No record came to $names within the window: $names $shows $whose last batch${ago(query, nodes)}.",
      Option.when(ids.size == 1)(ids.head)
    )
  }

  /** How long ago the last batches of these nodes were committed, where that is known. */
  private def ago(query: QuerySnapshot, nodes: Seq[NodeSnapshot]): String = {
    val ages = for (at <- query.atMs.toSeq; then <- nodes.flatMap(_.batchMs)) yield (at - then).max(0)
    if (ages.isEmpty) ""
    else
      s", ${Seq(ages.min, ages.max).map(ms => Readable.duration(ms.toDouble)).distinct.mkString(" to ")} ago"
  }

  /** As Spark counts them, where no node does. */
  private def droppedLate(query: QuerySnapshot): Option[Note] = {
    val isCounted = query.nodes.exists(node => Late.exists(node.measures.contains))
    query.rowsDroppedLate.filter(_ > 0 && !isCounted).map { rows =>
      Note(
        "rows-dropped-late",
        Note.Info,
        s"Operators of the query have dropped ${Readable.counted(rows, "row", "rows")} as late. To see which ones, and how late the rows " +
          "were, add stateful to spark.sparklatency.auto, set spark.sparklatency.recording.level=TRACE, and start the query again.",
        numbers = Seq("rows" -> Whole(rows))
      )
    }
  }

  private val Late = Seq(Measure.Lateness, Measure.SystemTimeLateness)

  private def hasRecords(query: QuerySnapshot): Boolean =
    query.nodes.exists(!_.measures.getOrElse(Measure.E2ELatency, MeasureSnapshot.empty).total.isEmpty)

  private def youngerDownstream(path: LatencyPath): Option[Note] = for {
    whole <- path.whole
    end <- path.critical.lastOption.flatMap(path.node(_).compared.avg) if whole - end >= Visible
    nodes = path.critical.drop(1).filter(id => path.own(path.node(id)).exists(_ <= -Visible))
    if nodes.nonEmpty
  } yield {
    val (leave, come) = (nodes.map(Readable.name), if (nodes.size == 1) "it" else "them")
    Note(
      "younger-downstream",
      Note.Info,
      s"The nodes' own times add up to ${Readable.duration(whole)}, and records are ${Readable.duration(end)} old at the " +
        s"end: those that leave ${Readable.all(leave)} are younger on average than those that come to $come.",
      Option.when(nodes.size == 1)(nodes.head),
      Seq("wholeMs" -> Mean(whole), "endMs" -> Mean(end))
    )
  }

  private def datedAnew(path: LatencyPath): Seq[Note] = path.datedAnew.map { node =>
    def by(nodes: Seq[NodeLatencies]) =
      Readable.all(nodes.flatMap(_.timestamp).map(_.column).distinct.map(Readable.name))
    val before = path.before(node)
    val (id, others) = (Readable.name(node.id), Readable.nodes(before.map(_.id)))
    Note(
      "another-timestamp",
      Note.Info,
      s"$id goes by ${by(Seq(node))}, and $others before it by ${by(before)}. These are two timestamps, so $id has no own time: the " +
        "difference between the two belongs to no step.",
      Some(node.id)
    )
  }

  private def folded(query: QuerySnapshot): Option[Note] = Option.when(query.folded > 0) {
    val text =
      if (query.folded == 1) "1 node or task is too many to show by itself: it is added up in __other__."
      else
        s"${Readable.count(query.folded.toLong)} nodes and tasks are too many to show one by one: they are added up in __other__."
    Note("folded", Note.Warn, text, numbers = Seq("folded" -> Whole(query.folded.toLong)))
  }

  private def ofParts(query: QuerySnapshot, split: LatencySplit): Seq[Note] =
    if (query.divided.exists(_.hasRecords)) {
      val parts = query.explained.flatMap(_.parts)
      PartNotes.of(split, query.hasNoEnd, ofOthers = parts.forall(_.state != 0), areTold = parts.nonEmpty)
    } else noBatch.filter(_ => hasRecords(query)).toSeq

  private val noBatch = Some(
    Note("no-batch", Note.Info, "No batch with records at a marked node has been committed yet.")
  )

  private val unnamed = Some(Note(
    "unnamed",
    Note.Warn,
    "The query is shown by its id: it has no name, or another running query has the same. Name it by .queryName(…) to find it again."
  ))
}
