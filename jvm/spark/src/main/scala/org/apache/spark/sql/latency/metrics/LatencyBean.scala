package org.apache.spark.sql.latency.metrics

import java.lang.management.ManagementFactory
import java.util.concurrent.atomic.AtomicBoolean
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
import io.sparklatency.spark.base.OurFailure
import io.sparklatency.time.ClockOffset
import org.apache.spark.internal.Logging

/**
 * The latency figures of one task, of one node in it, or those of an executor's clock, as the read-only attributes of an MBean.
 *
 * Costs nothing until JMX reads it, in JMX's threads. All attributes of a node share one computation, made at most ten times a
 * second while the figures stand. Thread-safe.
 */
private[latency] final class LatencyBean private (info: MBeanInfo, read: String => Option[AnyRef])
    extends DynamicMBean {

  override def getAttribute(name: String): AnyRef =
    read(name).getOrElse(throw new AttributeNotFoundException(name))

  override def getAttributes(names: Array[String]): AttributeList = {
    val values = new AttributeList
    for (name <- names; value <- read(name)) values.add(new Attribute(name, value))
    values
  }

  override def getMBeanInfo: MBeanInfo = info
  override def setAttribute(attribute: Attribute): Unit = throw new AttributeNotFoundException("read-only")
  override def setAttributes(attributes: AttributeList): AttributeList = new AttributeList
  override def invoke(action: String, parameters: Array[AnyRef], signature: Array[String]): AnyRef =
    throw new UnsupportedOperationException(action)
}

/**
 * Puts beans into the platform's MBean server and takes them out. Called by [[DropwizardSource]], and never by a task's
 * thread for each record. All beans of a kind share one description.
 */
private[latency] object LatencyBean extends Logging {
  private val warned = new AtomicBoolean
  private val metrics = Metric.of(Measure.E2ELatency)

  private val ofNode = info("how old records are at a node of a query, in milliseconds", typed(metrics))

  private val ofMarkers =
    info("how long latency markers took from their source, in milliseconds", typed(Metric.ofMarkers))

  private val ofClock = info(
    "an executor's clock against the driver's, in milliseconds",
    Metric.ofClocks.map(metric => (metric.name, "Double", metric.help))
  )

  private def typed(metrics: Seq[Metric]): Seq[(String, String, String)] =
    metrics.map(metric => (metric.name, if (metric.kind == Metric.Counter) "Long" else "Double", metric.help))

  private def info(description: String, attributes: Seq[(String, String, String)]) = new MBeanInfo(
    classOf[LatencyBean].getName,
    description,
    attributes.map { case (name, javaType, help) =>
      new MBeanAttributeInfo(name, s"java.lang.$javaType", help, true, false, false)
    }.toArray,
    null,
    null,
    null
  )

  private def server = ManagementFactory.getPlatformMBeanServer

  def register(name: ObjectName, figures: LiveFigures): ObjectName =
    register(
      name,
      new LatencyBean(ofNode, name => metrics.find(_.name == name).map(_.value(figures.snapshot())))
    )

  def registerMarkers(name: ObjectName, figures: LiveFigures): ObjectName =
    register(
      name,
      new LatencyBean(
        ofMarkers,
        name => Metric.ofMarkers.find(_.name == name).map(_.value(figures.snapshot()))
      )
    )

  /** @param offset none where it is unknown */
  def register(name: ObjectName, offset: () => Option[ClockOffset]): ObjectName =
    register(
      name,
      new LatencyBean(ofClock, name => Metric.ofClocks.find(_.name == name).map(_.value(offset())))
    )

  /**
   * An earlier application in the same process may have left a bean under the name: it gives way. A server that takes no bean, as one of
   * a container's own may not, has none of ours; all else has the figures. The log says so once.
   */
  private def register(name: ObjectName, bean: LatencyBean): ObjectName = {
    unregister(name)
    try server.registerMBean(bean, name).getObjectName
    catch {
      case OurFailure(e) =>
        if (warned.compareAndSet(false, true)) logWarning(s"JMX takes no MBean of ours: $name", e)
        name
    }
  }

  def unregister(name: ObjectName): Unit = { Try(server.unregisterMBean(name)); () }
}
