package io.sparklatency.figures

/**
 * Which watermark of a query it is. Two of the same source, column and kind share their figures: those of the one that
 * holds back, or else is further behind.
 *
 * @param source what it comes from, `kafka[orders]` say
 */
final case class WatermarkKey(source: String, column: String, kind: WatermarkKind) {

  /** Its parts, by the names that monitoring systems give them. */
  def tags: Seq[(String, String)] = Seq("source" -> source, "column" -> column, "kind" -> kind.name)
}
