package io.sparklatency.figures

/** Shows figures somewhere: as gauges, as MBeans. It is told which there are. */
trait FiguresListener {
  def added(key: NodeKey, measure: Measure, figures: LiveFigures): Unit = ()

  /** @param node none for the task as a whole */
  def addedTask(query: String, task: String, node: Option[String], figures: LiveFigures): Unit = ()

  /** The operator latency of a node that has one. */
  def addedOperator(key: NodeKey, latency: OperatorLatency): Unit = ()

  /**
   * A run of a streaming query.
   *
   * @param read how it is now, without its nodes
   */
  def addedQuery(query: String, read: () => Option[QuerySnapshot]): Unit = ()

  /**
   * The parts of the age of a run's records.
   *
   * @param read how it is now
   */
  def addedAges(query: String, read: () => Option[QuerySnapshot]): Unit = ()

  /** How long the latency markers of a query take between two places. */
  def addedMarker(query: String, key: MarkerKey, figures: LiveFigures): Unit = ()

  /**
   * A watermark of a run.
   *
   * @param read how the query is now, without its nodes
   */
  def addedWatermark(query: String, key: WatermarkKey, read: () => Option[QuerySnapshot]): Unit = ()

  /** The application ends: what would outlive it in this process goes. What sinks read stays, for they report once more. */
  def closed(): Unit = ()

  /** A query has stopped or was forgotten: all that it had shown goes, its tasks included. */
  def removed(query: String): Unit = ()
}

object FiguresListener {

  /** Shows nothing. */
  object Nowhere extends FiguresListener
}
