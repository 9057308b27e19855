package io.sparklatency.figures

import scala.collection.mutable

/** Counts different ids, up to a limit. Not thread-safe. */
private final class Distinct {
  private val ids = mutable.Set.empty[String]
  def add(id: String): Unit = if (ids.size < 10000) ids += id
  def count: Int = ids.size
}
