package io.sparklatency.answer

import io.sparklatency.figures.AgeParts
import io.sparklatency.figures.Batch
import io.sparklatency.figures.QueryMetric
import io.sparklatency.figures.QuerySnapshot
import io.sparklatency.path.LatencyPath
import io.sparklatency.path.LatencySplit
import io.sparklatency.path.OperatorPath

/**
 * The mean age of records at the commit, in the parts that are known, which follow one another and add up to the whole. Made of
 * one batch, or where that does not tell them of each node's last one, so that the parts hold the same records. Where no batch ends
 * they are of the window, and some of the records are still on their way.
 *
 * @param when as sentences have it
 */
final case class Parts(of: Seq[Parts.Part], when: String = "in the last batch") {
  def whole: Option[Double] = Option.when(of.nonEmpty)(of.map(_.ms).sum)

  def text: Option[String] = whole.map(ms =>
    s"${of.map(_.text).mkString(", ")}: ${Readable.duration(ms)} on average $when"
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

  /** What is known where a batch does not tell more. */
  private val Coarse = Seq(Seq(Queuing), Seq(Processing), Seq(Queuing, Processing))

  /** For sinks that show one number by one name: all work, and all that waits in state, is one. */
  val metrics: Seq[QueryMetric] = (Kinds.map(Seq(_)) :+ Coarse.last).map { kinds =>
    val name = kinds.map(_.name).mkString(" and ")
    QueryMetric(
      s"age-${name.replace(' ', '-')}",
      code(kinds),
      s"$name: a part of the mean age at the commit of the last batch, or of the window where no batch ends"
    )(allOf(_, kinds).map(math.round))
  }

  /** None of a kind that is not told. A batch that tells its parts tells of those that are nothing, too. */
  private def allOf(query: QuerySnapshot, kinds: Seq[Kind]): Option[Double] = {
    // Without the way of the records they add up to the same.
    val explained = query.explained.filterNot(_ => query.hasNoEnd).flatMap(of(_, NoWay))
    val parts = explained.getOrElse(of(query)).of
    val same = parts.filter(_.kinds == kinds)
    val isNothing = explained.nonEmpty && parts.nonEmpty && !Coarse.contains(kinds)
    Option.when(same.nonEmpty || isNothing)(same.map(_.ms).sum)
  }

  /**
   * Where a part arose.
   *
   * @param words as sentences have it, before the names of its nodes
   */
  sealed abstract class Place(val words: String) extends Product with Serializable
  case object AtNode extends Place("at")
  case object InStage extends Place("in the stage of")
  case object InSlots extends Place("in the slots of")

  /** Where nobody works whose name is known. */
  case object BetweenStages extends Place("between stages with a node")

  /** At all other steps. */
  case object Elsewhere extends Place("elsewhere")

  /**
   * @param kinds more than one where they cannot be told apart
   * @param ms    may be negative, where other records come out than came in, or records are ahead of the clock
   * @param place none of what is no step's
   * @param nodes whose it is; none where it is no node's
   * @param share of all parts, between 0 and 1; 0 of a negative one
   */
  final case class Part(
      kinds: Seq[Kind],
      ms: Double,
      place: Option[Place] = None,
      nodes: Seq[String] = Nil,
      share: Double = 0
  ) {
    def code: String = Parts.code(kinds)
    def names: Seq[String] = kinds.map(_.name)
    def name: String = (names.mkString(" and ") +: at.toSeq).mkString(" ")

    /** Its place, as a sentence has it. */
    def at: Option[String] =
      place.map(of => if (nodes.isEmpty) of.words else s"${of.words} ${Readable.nodes(nodes)}")
    def text: String = s"$name ${Readable.duration(ms)}"

    /** Whether it is of one step, and not of those that are told together. */
    private[answer] def isOneStep: Boolean = !place.contains(Elsewhere)
  }

  private def code(kinds: Seq[Kind]): String = kinds.map(_.code).mkString("+")

  private val NoWay = new LatencyPath(Nil)

  /** Less than this many milliseconds is no part to speak of. */
  private val Visible = 0.05

  /** How many steps of the work are told one by one. */
  private val Steps = 4

  /** Of each query as a whole. */
  def of(query: QuerySnapshot): Parts = of(query, new LatencyPath(query.divided))

  /** @param path of the figures that are divided */
  private[answer] def of(query: QuerySnapshot, path: LatencyPath): Parts =
    if (query.hasNoEnd) {
      val span = s"within the last ${Readable.duration(query.covers.ms.toDouble)}"
      val when = if (query.activity.isEmpty) "in its last figures" else span
      ofSteps(path).getOrElse(ofSplit(path.split)).copy(when = when)
    } else query.explained.flatMap(of(_, path)).getOrElse(ofSplit(path.split))

  /**
   * Of one batch; none where it does not tell them.
   *
   * @param path of its nodes
   */
  private[answer] def of(batch: Batch, path: LatencyPath): Option[Parts] =
    batch.parts.map(told(batch, _, path))

  /** From node to node, where only one way leads from one source to one end. No record waits for others on it. */
  private def ofSteps(path: LatencyPath): Option[Parts] = {
    val own = path.critical.map(path.node).flatMap(node => path.own(node).map(node.id -> _))
    Option.when(
      own.size > 1 && path.sources.size == 1 && path.terminals.size == 1 && own.size == path.critical.size
    ) {
      val queuing = Part(Seq(Queuing), own.head._2)
      val work = own.tail.map { case (node, ms) => Part(Seq(Work), ms, Some(AtNode), Seq(node)) }
      shared(queuing +: longest(work, work.map(_.ms).sum))
    }
  }

  /** The means, one after another. They add up to the mean age at the commit, or at the end where that is unknown. */
  private def ofSplit(split: LatencySplit): Parts = shared {
    val beforeCommit = (split.queuing.avg, split.processing.flatMap(_.avg)) match {
      case (Some(queued), Some(processed)) =>
        Seq(Part(Seq(Queuing), queued), Part(Seq(Processing), processed))
      case _ => split.atEnd.avg.map(Part(Seq(Queuing, Processing), _)).toSeq
    }
    beforeCommit ++ split.commit.flatMap(_.avg).map(Part(Seq(Commit), _))
  }

  private def told(batch: Batch, parts: AgeParts, ages: LatencyPath): Parts = {
    val waits =
      Kinds.take(parts.waits.all.size).zip(parts.waits.all).map { case (kind, ms) => Part(Seq(kind), ms) }
    val path = batch.times.map(new OperatorPath(_))
    val others = path.fold(Map.empty[Seq[String], Double])(forOthers(batch, parts, _))
    val work = path.map(works(_, parts.work, others)).getOrElse(Nil)
    val state = inState(batch, ages, parts.state)
    val commit = Part(Seq(Commit), parts.commit - others.values.sum)
    val all = shared((waits ++ work ++ state :+ commit).filter(_.ms.abs >= Visible))
    // Those that left elsewhere are of another age.
    if (batch.ends.size > 1) all.copy(when = s"at ${Readable.name(parts.end)} ${all.when}") else all
  }

  /**
   * What records wait in state: at the node behind the operator that holds them. Of several it is divided as ages grow at each. Where they
   * grow at none of them, nobody knows at which. Where the plan tells of none, as in foreachBatch, at the one where ages grow most.
   */
  private def inState(batch: Batch, path: LatencyPath, ms: Double): Seq[Part] = if (ms.abs < Visible) Nil
  else {
    val held = batch.nodes.filter(_.held.nonEmpty).map(_.id)
    val shares = held match {
      case Seq(only) => Seq(only -> 1.0)
      case Seq() => growth(batch, path).maxByOption { case (_, by) => by }.map { case (node, _) =>
          node -> 1.0
        }.toSeq
      case several if ms > 0 =>
        val grown = growth(batch, path).filter { case (node, _) => several.contains(node) }
        val all = grown.map { case (_, by) => by }.sum
        grown.map { case (node, by) => node -> by / all }
      case _ => Nil
    }
    if (shares.isEmpty) Seq(Part(Seq(State), ms))
    else shares.map { case (node, share) => Part(Seq(State), ms * share, Some(AtNode), Seq(node)) }
  }

  /** The nodes at which ages grow, and by how much beyond the work of their operators. */
  private def growth(batch: Batch, path: LatencyPath): Seq[(String, Double)] = {
    val worked = batch.times.toSeq.flatMap(_.nodes).flatMap(node => node.latencyMs.map(node.node -> _)).toMap
    path.nodes.filter(path.hasBefore).flatMap(node => path.own(node).map(node.id -> _)).map {
      case (node, own) =>
        node -> (own - worked.getOrElse(node, 0.0))
    }.filter { case (_, by) => by > 0 }
  }

  /**
   * For how long records that have left the last node wait for the others of their batch, while nodes of that stage are at work on these.
   * Where rows come one by one that is half of all their work, and no sink is to blame for it. What the rest of the stage does meanwhile
   * stays with the commit, for it may be the sink's writing.
   */
  private def forOthers(batch: Batch, parts: AgeParts, path: OperatorPath): Map[Seq[String], Double] = {
    val untilLastWrite = (parts.commit - path.behind(batch.committedMs.toDouble).max(0)).max(0)
    val all = path.lastSteps.map(_.ms).sum
    path.lastSteps.filter(isOfNodes)
      .map(step => step.nodes -> untilLastWrite * step.ms / all).toMap
  }

  private def isOfNodes(step: OperatorPath.Step): Boolean =
    step.kind == OperatorPath.Node || step.kind == OperatorPath.Last

  /**
   * The work on the records, divided as the critical path of their batch is, and what they wait for the work on others, by node.
   */
  private def works(path: OperatorPath, own: Double, others: Map[Seq[String], Double]): Seq[Part] = {
    val ms = own + others.values.sum
    val steps = path.steps.groupMapReduce(step => (step.kind, step.nodes))(_.ms)(_ + _)
    val told = path.steps.map(step => (step.kind, step.nodes)).distinct.map { case of @ (kind, nodes) =>
      OperatorPath.Step(kind, nodes, steps(of))
    }
    if (told.isEmpty) Seq(Part(Seq(Work), ms))
    else {
      val each = told.map { step =>
        val forOthers = if (isOfNodes(step)) others.getOrElse(step.nodes, 0.0) else 0.0
        Part(Seq(Work), own * path.share(step) + forOthers, Some(placeOf(step)), step.nodes)
      }
      longest(each, ms)
    }
  }

  /** The longest of these steps, in their order, and the rest of the work. */
  private def longest(work: Seq[Part], ms: Double): Seq[Part] = {
    val most = work.sortBy(-_.ms).take(Steps)
    val shown = work.filter(most.contains)
    val rest = ms - shown.map(_.ms).sum
    if (rest.abs >= Visible) shown :+ Part(Seq(Work), rest, Some(Elsewhere)) else shown
  }

  private def placeOf(step: OperatorPath.Step): Place = step.kind match {
    case OperatorPath.Node => AtNode
    case OperatorPath.Rest | OperatorPath.Last => InStage
    case OperatorPath.Waiting => if (step.nodes.isEmpty) BetweenStages else InSlots
  }

  private def shared(parts: Seq[Part]): Parts = {
    val shown = parts.map(_.ms.max(0)).sum
    Parts(parts.map(part => part.copy(share = if (shown > 0) part.ms.max(0) / shown else 0)))
  }
}
