package io.sparklatency.spark

import com.fasterxml.jackson.databind.node.ObjectNode
import io.sparklatency.figures.Figure

/** Puts what is not one value into a document, and what may be unknown: that is `null`. Without state, for any thread. */
private[spark] object JsonFields {

  def putLong(json: ObjectNode, field: String, value: Option[Long]): Unit = {
    json.put(field, value.map(Long.box).orNull)
    ()
  }

  def putDouble(json: ObjectNode, field: String, value: Option[Double]): Unit = {
    json.put(field, value.map(Double.box).orNull)
    ()
  }

  def putFigure(json: ObjectNode, field: String, value: Figure): Unit = {
    value match {
      case Figure.Whole(value) => json.put(field, value)
      case Figure.Mean(value) => json.put(field, value)
    }
    ()
  }

  def putNames(json: ObjectNode, field: String, names: Iterable[String]): Unit = {
    val array = json.putArray(field)
    names.foreach(name => array.add(name))
  }

  /** An object for each. */
  def putEach[A](json: ObjectNode, field: String, of: Iterable[A])(put: (ObjectNode, A) => Unit): Unit = {
    val array = json.putArray(field)
    of.foreach(one => put(array.addObject(), one))
  }
}
