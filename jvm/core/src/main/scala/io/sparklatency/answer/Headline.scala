package io.sparklatency.answer

import io.sparklatency.figures.Measure
import io.sparklatency.figures.NodeLatencies
import io.sparklatency.figures.QuerySnapshot
import io.sparklatency.path.LatencyPath
import io.sparklatency.path.OperatorPath

/**
 * What makes records old, the cause where it is known, else the step that takes longest: the first thing that every surface says.
 *
 * @param words the sentence
 * @param node  the step that is the cause, or the only node that is known; none where no step is
 * @param own   mean time of the leading part of the age, or at the step, in milliseconds; negative where records are ahead of the clock
 * @param whole the time that all parts take, which is the mean age where none is negative; or that of all steps of the critical path
 * @param share the part of the whole, between 0 and 1; none of what is negative
 */
final case class Headline(
    code: Headline.Code,
    words: Headline.Words,
    node: Option[String] = None,
    own: Option[Double] = None,
    whole: Option[Double] = None,
    share: Option[Double] = None
) {
  def text: String = words.text

  /** For a cell of a table: what leads, whose it is, and its share. None where no part leads. */
  def short: Option[String] = share.flatMap(share =>
    code match {
      case Headline.SlowestStep => Some(node.getOrElse(Parts.Work.name) -> share)
      case Headline.Leads(kind) => Some((kind.name +: node.toSeq).mkString(": ") -> share)
      case _ => None
    }
  ).map { case (what, share) => s"$what (${Readable.percent(share)})" }
}

object Headline {
  sealed abstract class Code(val name: String) extends Product with Serializable
  case object SlowestStep extends Code("slowest-step")

  /** A part of the age leads that is no step's own time. */
  final case class Leads(part: Parts.Kind) extends Code(part.code)

  /** One node shows how old records are, and not where they grew old. */
  case object OneNode extends Code("one-node")
  case object Unknown extends Code("unknown")

  /** The batch in progress takes far too long: what is known of the last ones is no answer. */
  case object Stalled extends Code("stalled")
  case object Failed extends Code("failed")

  /** Nothing comes out any more: what made the last results old is no answer. */
  case object SilentSource extends Code("silent-source")

  /** A sentence, with the name of a node in it that a surface may make bold. */
  final case class Words(before: String, name: String = "", after: String = "") {
    def text: String = before + name + after
  }

  /**
   * @param path  of the window, and of a quiet node its last batch
   * @param cause of the last batch that tells it; where no batch ends, of the window
   * @param work  who was at work, for a query whose records have no timestamp
   */
  def of(path: LatencyPath, cause: Option[Cause], progress: Progress, work: Option[Work] = None): Headline = {
    def silent = ResultsWait.of(progress.query, path).map(note => Headline(SilentSource, Words(note.text)))
    lazy val ofWork = work.filter(_ => progress.query.goesByMarkers).map(of(_))
    lazy val ofAges = silent.orElse(ofWork).orElse(cause.map(of(_))).getOrElse(of(path, progress.query, work))
    progress.stalled.map(text => Headline(Stalled, Words(text)))
      .orElse(progress.failed.filter(_ => ofAges.code == Unknown).map(text => Headline(Failed, Words(text))))
      .getOrElse(ofAges)
  }

  private def of(cause: Cause): Headline = {
    val kind = cause.part.kinds.head
    Headline(
      if (kind == Parts.Work) SlowestStep else Leads(kind),
      cause.words,
      cause.nodes.headOption,
      Some(cause.part.ms),
      Some(cause.whole),
      Option.when(cause.part.ms > 0)(cause.part.share)
    )
  }

  /** The one that is at work longest, where that is a step. */
  private[answer] def slowestStep(work: Work): Option[String] = of(work).node

  /** No record has a timestamp, so nobody knows how old records are: what takes longest is known all the same. */
  private def of(work: Work): Headline = work.commit.fold(ofSteps(work)) { commit =>
    val words = Words(
      "What comes after ",
      Readable.name(commit.node),
      s" takes ${commit.figures} of the work on a batch: the sink, and whatever stands before it without a node. Make that faster."
    )
    Headline(
      Leads(Parts.Commit),
      words,
      Some(commit.node),
      Some(commit.ms),
      Some(commit.whole),
      Some(commit.share)
    )
  }

  private def ofSteps(work: Work): Headline = work.path.longest match {
    case Some(step @ OperatorPath.Step(kind, Seq(node), ms)) if Whose.contains(kind) =>
      val (whole, share) = (work.path.latency, work.path.share(step))
      val skew = work.skew(node, ofStage = kind == OperatorPath.Last)
      val figures = s"${Readable.part(ms, whole, share)} of the work ${work.on}"
      val after = s", $figures. ${skew.getOrElse(FilledBatch.Faster)}"
      val words = Words(s"Slowest step: ${Whose(kind)}", Readable.name(node), after)
      Headline(SlowestStep, words, Some(node), Some(ms), Some(whole), Some(share))
    case longest =>
      val remedy =
        longest.map(step => if (step.nodes.isEmpty) FilledBatch.MarkThere else FilledBatch.Faster)
      Headline(Unknown, Words((work.text +: remedy.toSeq).mkString(" ")))
  }

  /** The steps that are a node's, with what stands before its name. */
  private val Whose: Map[OperatorPath.Kind, String] =
    Map(OperatorPath.Node -> "", OperatorPath.Last -> "the stage of ")

  private def of(path: LatencyPath, query: QuerySnapshot, work: Option[Work]): Headline =
    path.critical match {
      case Seq() => Headline(Unknown, nothingAtEnd(path, query))
      case Seq(only) => oneNode(path, path.node(only))
      case several =>
        slowestStep(path, query, work).getOrElse(
          Headline(Unknown, aheadOfClock(path).getOrElse(noStep(path.node(several.last))))
        )
    }

  private def slowestStep(
      path: LatencyPath,
      query: QuerySnapshot,
      work: Option[Work]
  ): Option[Headline] = for {
    step <- path.slowestStep
    own <- path.own(step)
    whole <- path.whole
    share <- path.share(step)
  } yield {
    // A source's own time arose before Spark saw the record.
    val (before, remedy) =
      if (path.sources.contains(step)) ("before ", Unread)
      else if (isKept(step, query)) ("", Kept)
      else ("", work.flatMap(_.skew(step.id, ofStage = false)).getOrElse(FilledBatch.Faster))
    val figures = Readable.part(own, whole, share)
    val words = Words(s"Slowest step: $before", Readable.name(step.id), s", $figures. $remedy")
    Headline(SlowestStep, words, Some(step.id), Some(own), Some(whole), Some(share))
  }

  /** Whether state stood before the node in the last batch. */
  private def isKept(step: NodeLatencies, query: QuerySnapshot): Boolean =
    query.lastBatch.toSeq.flatMap(_.nodes).exists(node => node.id == step.id && node.held.nonEmpty)

  /** Ages alone do not tell these apart. */
  private val Unread =
    "Records arrive old, or wait to be read: look at who writes them, and at when a batch reads them."
  private val Kept = "Make that faster, or let its state give records out earlier."

  private def oneNode(path: LatencyPath, node: NodeLatencies): Headline = {
    val remedy =
      if (path.hasBefore(node)) "No record with a timestamp was measured before it."
      else "Mark another node to see which step takes the time."
    Headline(
      OneNode,
      aheadOfClock(path).getOrElse(ages(node, s" on average. $remedy")),
      Some(node.id),
      path.own(node),
      path.whole,
      path.share(node)
    )
  }

  private def nothingAtEnd(path: LatencyPath, query: QuerySnapshot): Words =
    if (query.isUnmarked)
      Words("No node of this query has figures, so nobody knows which step takes the time.")
    else if (path.nodes.isEmpty) Words("No batch of the query with a marked node has ended yet.")
    else if (path.nodes.forall(_(Measure.E2ELatency).count == 0)) {
      val hadSome = query.totals.exists(_(Measure.E2ELatency).count > 0)
      Words(
        if (hadSome) s"${Notes.silence(query)}."
        else "No record with a timestamp has been measured yet."
      )
    } else {
      val why = Watermarks.heldBack(query).fold("")(held => s" $held")
      Words(s"No record with a timestamp has reached the end of the query yet.$why")
    }

  private def aheadOfClock(path: LatencyPath): Option[Words] = path.aheadMs.map { ms =>
    val timestamp = path.node(path.critical.head).timestamp
    val by = timestamp.fold("")(read => s", by ${Readable.name(read.column)}")
    Words(OddTimestamps.aheadOfClock(ms, by))
  }

  /** Clocks that are not the same, or a way that takes no time. */
  private def noStep(end: NodeLatencies): Words = ages(end, " on average: no step stands out.")

  private def ages(node: NodeLatencies, after: String): Words =
    Words(
      s"Records are ${Readable.duration(node.compared.avg)} old at ",
      Readable.name(node.id),
      after
    )
}
