package io.sparklatency.figures

import scala.collection.mutable

/** The last so many values of a kind. Not thread-safe. */
private final class Newest[A](limit: Int) {
  private val values = mutable.LinkedHashSet.empty[A]
  def contains(value: A): Boolean = values.contains(value)

  def add(value: A): Unit = {
    values += value
    if (values.size > limit) values -= values.head
  }
}
