package io.sparklatency.answer

/** What is said of an ingestion timestamp that nothing reads. Without state, for any thread. */
object LeftOut {

  /** In the log of the query, too. */
  def text(column: String): String =
    s"the ingestion timestamp '${Readable.name(column)}' is left out of the plan: no step, node or sink reads it; " +
      "spark.sparklatency.forceTimestampSupport=true keeps it"

  private[answer] def notes(columns: Seq[String]): Seq[Note] =
    columns.map(column => Note("left-out", Note.Info, s"${text(column).capitalize}."))
}
