package io.sparklatency.figures

/**
 * By what a node knows when a record happened.
 *
 * @param column    as the plan of the last batch has it
 * @param isAnother whether the nodes before it go by another one, as those do that read Kafka's timestamp of an event that has its own. Then
 *                  ages there and here differ by more than the time in between
 */
final case class NodeTimestamp(column: String, isAnother: Boolean = false)
