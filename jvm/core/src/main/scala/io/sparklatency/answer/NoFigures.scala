package io.sparklatency.answer

/** What is said where there is nothing to show. */
object NoFigures {

  /** Of no query at all, or of one that runs. */
  val yet = "No figures yet: no batch of a query with a marked node has ended."

  /** Why a query may not be found. */
  val why =
    "there is no query of this name or id, none of its batches with a marked node has ended yet, or newer runs have taken its place"

  /** @param known the names of the queries that there are figures of */
  def of(query: String, known: Seq[String]): String = {
    val others = if (known.isEmpty) "" else s"; there are figures of ${Readable.names(known, Some(query))}"
    s"no figures of a query '${Readable.name(query)}': $why$others"
  }
}
