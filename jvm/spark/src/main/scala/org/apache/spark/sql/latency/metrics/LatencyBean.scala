package org.apache.spark.sql.latency.metrics

import java.lang.management.ManagementFactory
import javax.management.Attribute
import javax.management.AttributeList
import javax.management.AttributeNotFoundException
import javax.management.DynamicMBean
import javax.management.MBeanAttributeInfo
import javax.management.MBeanInfo
import javax.management.ObjectName

import scala.util.Try

import io.sparklatency.figures.LiveFigures
import io.sparklatency.figures.Measure
import io.sparklatency.figures.Metric

/**
 * The latency figures of one task, or of one node in it, as the read-only attributes of an MBean.
 *
 * Costs nothing until JMX reads it, in JMX's threads. All attributes share one computation, made at most ten times a second
 * while the figures stand. Thread-safe.
 */
private[latency] final class LatencyBean(figures: LiveFigures) extends DynamicMBean {
  import LatencyBean._

  override def getAttribute(name: String): AnyRef =
    metrics.find(_.name == name).map(value).getOrElse(throw new AttributeNotFoundException(name))

  override def getAttributes(names: Array[String]): AttributeList = {
    val values = new AttributeList
    for (name <- names; metric <- metrics.find(_.name == name)) values.add(new Attribute(name, value(metric)))
    values
  }

  override def getMBeanInfo: MBeanInfo = info
  override def setAttribute(attribute: Attribute): Unit = throw new AttributeNotFoundException("read-only")
  override def setAttributes(attributes: AttributeList): AttributeList = new AttributeList
  override def invoke(action: String, parameters: Array[AnyRef], signature: Array[String]): AnyRef =
    throw new UnsupportedOperationException(action)

  private def value(metric: Metric): AnyRef = metric.value(figures.snapshot())
}

/**
 * Puts beans into the platform's MBean server and takes them out. Called by [[DropwizardSource]], and never by a task's
 * thread for each record. All beans share one description.
 */
private[latency] object LatencyBean {
  private val metrics = Metric.of(Measure.E2ELatency)

  private val info = new MBeanInfo(
    classOf[LatencyBean].getName,
    "how old records are at a node of a query, in milliseconds",
    metrics.map { metric =>
      val javaType = if (metric.kind == Metric.Counter) "java.lang.Long" else "java.lang.Double"
      new MBeanAttributeInfo(metric.name, javaType, metric.help, true, false, false)
    }.toArray,
    null,
    null,
    null
  )

  private def server = ManagementFactory.getPlatformMBeanServer

  /** An earlier application in the same process may have left a bean under the name: it gives way. */
  def register(name: ObjectName, figures: LiveFigures): ObjectName = {
    unregister(name)
    server.registerMBean(new LatencyBean(figures), name).getObjectName
  }

  def unregister(name: ObjectName): Unit = { Try(server.unregisterMBean(name)); () }
}
