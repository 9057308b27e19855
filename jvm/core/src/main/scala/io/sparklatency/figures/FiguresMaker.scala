package io.sparklatency.figures

/** Makes the figures of a run's nodes and tasks, and says whether there may be more. */
trait FiguresMaker {

  /** What windows cover. */
  def window: WindowSettings
  def hasRoom: Boolean
  def hasRoomForTask: Boolean
  def node(node: String, measure: Measure): LiveFigures

  def operator(node: String): OperatorLatency

  def hasRoomForMarkers: Boolean
  def marker(key: MarkerKey): LiveFigures

  /** The run has a watermark that it had not before. */
  def watermark(key: WatermarkKey): Unit

  /** @param node none for the task as a whole */
  def task(task: String, node: Option[String]): LiveFigures
}
