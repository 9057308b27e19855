package io.sparklatency.spark

import javax.management.ObjectName

/** MBeans by their names. */
object Beans {

  /** A part of a bean's name as it was before JMX had it quoted. */
  def key(bean: ObjectName, tag: String): Option[String] =
    Option(bean.getKeyProperty(tag)).map(value =>
      if (value.startsWith("\"")) ObjectName.unquote(value) else value
    )
}
