package io.sparklatency.answer

import io.sparklatency.figures.AgeParts
import io.sparklatency.figures.Batch
import io.sparklatency.figures.QuerySnapshot
import io.sparklatency.path.LatencyPath
import io.sparklatency.path.LatencySplit
import io.sparklatency.path.OperatorPath

/**
 * The mean age of records at the commit, in the parts that are known, which follow one another and add up to the whole. Made of
 * one batch, or where that does not tell them of each node's last one, so that the parts hold the same records.
 */
final case class Parts(of: Seq[Parts.Part]) {
  def whole: Option[Double] = Option.when(of.nonEmpty)(of.map(_.ms).sum)

  def text: Option[String] = whole.map(ms =>
    s"${of.map(_.text).mkString(", ")}: ${Readable.duration(ms)} on average in the last batch"
  )
}

object Parts {

  /**
   * What a part is.
   *
   * @param name as sentences have it
   */
  sealed abstract class Kind(val name: String) extends Product with Serializable {

    /** As data has it. */
    def code: String = name.replace(' ', '-')
  }

  case object ArrivedOld extends Kind("arrived old")
  case object Backlog extends Kind("backlog")
  case object BatchBefore extends Kind("waited for the batch before")
  case object Trigger extends Kind("waited for the trigger")
  case object Start extends Kind("start of the batch")
  case object Queuing extends Kind("source queuing")
  case object Processing extends Kind("processing")
  case object Work extends Kind("work")
  case object State extends Kind("waited in state")
  case object Commit extends Kind("commit")

  /** In the order in which they follow one another. */
  val Kinds: Seq[Kind] =
    Seq(ArrivedOld, Backlog, BatchBefore, Trigger, Start, Queuing, Processing, Work, State, Commit)

  /**
   * @param kinds more than one where they cannot be told apart
   * @param ms    may be negative, where other records come out than came in, or records are ahead of the clock
   * @param share of all parts, between 0 and 1; 0 of a negative one
   * @param at    whose work it is, as a step in a sentence
   * @param nodes theirs
   */
  final case class Part(
      kinds: Seq[Kind],
      ms: Double,
      share: Double,
      at: Option[String] = None,
      nodes: Seq[String] = Nil
  ) {
    def code: String = kinds.map(_.code).mkString("+")
    def names: Seq[String] = kinds.map(_.name)
    def name: String = (names.mkString(" and ") +: at.toSeq).mkString(" ")
    def text: String = s"$name ${Readable.duration(ms)}"
  }

  /** Less than this many milliseconds is no part to speak of. */
  private val Visible = 0.05

  /** How many steps of the work are told one by one. */
  private val Steps = 4

  /** Of each query as a whole. */
  def of(query: QuerySnapshot): Parts = of(query.explained, new LatencyPath(query.lastBatches).split)

  /** @param explained the last batch that tells its parts */
  private[answer] def of(explained: Option[Batch], split: LatencySplit): Parts =
    explained.flatMap(batch => batch.parts.map(told(batch, _))).getOrElse(ofSplit(split))

  private def ofSplit(split: LatencySplit): Parts = shared(split.parts.map { part =>
    Part(
      part.steps.map {
        case LatencySplit.Queuing => Queuing
        case LatencySplit.Processing => Processing
        case LatencySplit.Commit => Commit
      },
      part.ms,
      0
    )
  })

  private def told(batch: Batch, parts: AgeParts): Parts = {
    val waits = Kinds.take(parts.waits.all.size).zip(parts.waits.all).map { case (kind, ms) =>
      Part(Seq(kind), ms, 0)
    }
    val work = batch.times.map(times => works(new OperatorPath(times), parts.work)).getOrElse(Nil)
    val state = Part(Seq(State), parts.state, 0)
    val commit = Part(Seq(Commit), parts.commit, 0)
    shared((waits ++ work :+ state :+ commit).filter(_.ms.abs >= Visible))
  }

  /** The work on the records, divided as the critical path of their batch is. */
  private def works(path: OperatorPath, ms: Double): Seq[Part] = {
    val steps = path.steps.groupMapReduce(step => (step.kind, step.nodes))(_.ms)(_ + _)
    val told = path.steps.map(step => (step.kind, step.nodes)).distinct.map { case of @ (kind, nodes) =>
      OperatorPath.Step(kind, nodes, steps(of))
    }
    if (told.isEmpty) Seq(Part(Seq(Work), ms, 0))
    else {
      val longest = told.sortBy(-_.ms).take(Steps)
      val single = told.filter(longest.contains).map(step =>
        Part(Seq(Work), ms * path.share(step), 0, Some(at(step)), step.nodes)
      )
      val rest = ms - single.map(_.ms).sum
      if (rest.abs >= Visible) single :+ Part(Seq(Work), rest, 0, Some("elsewhere")) else single
    }
  }

  private def at(step: OperatorPath.Step): String = step match {
    case OperatorPath.Step(OperatorPath.Node, nodes, _) => s"at ${Readable.names(nodes, 4)}"
    case OperatorPath.Step(OperatorPath.Rest, nodes, _) => s"in the stage of ${Readable.names(nodes, 4)}"
    case OperatorPath.Step(OperatorPath.Waiting, Seq(), _) => "at the start of stages"
    case OperatorPath.Step(OperatorPath.Waiting, nodes, _) => s"in the slots of ${Readable.names(nodes, 4)}"
  }

  private def shared(parts: Seq[Part]): Parts = {
    val shown = parts.map(_.ms.max(0)).sum
    Parts(parts.map(part => part.copy(share = if (shown > 0) part.ms.max(0) / shown else 0)))
  }
}
