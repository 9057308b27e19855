package io.sparklatency.figures

/** A node of a query: both stay the same when the query is restarted. */
final case class NodeKey(query: String, node: String)
