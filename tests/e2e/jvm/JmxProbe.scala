package io.sparklatency.e2e

import javax.management.InstanceNotFoundException
import javax.management.MBeanServerConnection
import javax.management.ObjectName
import javax.management.remote.JMXConnectorFactory
import javax.management.remote.JMXServiceURL

import scala.io.Source
import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.core.json.JsonWriteFeature.WRITE_NAN_AS_STRINGS
import com.fasterxml.jackson.databind.json.JsonMapper
import com.sun.tools.attach.VirtualMachine

/**
 * A JMX client: for each line of input it prints, as one line of JSON, what there is of every marked node in the
 * driver and the executors of an application: gauges by full name, and of each bean of a task, by its object name, how
 * many records it has.
 *
 * The driver is reached over TCP, as a console would. Executors of one host would fight over a port, so these are
 * found by the driver's port in their command line and asked to start their local connector, which needs none. (Two
 * clusters that start an application in the same second give it the same id.)
 */
object JmxProbe {
  private val Gauges = new ObjectName("metrics:type=gauges,*")
  private val Tasks = new ObjectName("sparklatency:thread-id=*,*")
  private val json = JsonMapper.builder.disable(WRITE_NAN_AS_STRINGS).build

  def main(args: Array[String]): Unit = {
    val Array(driver, port) = args: @unchecked
    val jvms = connect(s"service:jmx:rmi:///jndi/rmi://$driver/jmxrmi") +: executors(port).map(connect)
    for (_ <- Source.stdin.getLines())
      println(json.writeValueAsString(jvms.flatMap(jvm => gauges(jvm) ++ tasks(jvm)).toMap.asJava))
  }

  private def executors(driverPort: String): Seq[String] =
    VirtualMachine.list.asScala.toSeq
      .filter(_.displayName.matches(s".*\\.CoarseGrainedExecutorBackend .*--driver-url \\S+:$driverPort .*"))
      .map { jvm =>
        val machine = VirtualMachine.attach(jvm)
        try machine.startLocalManagementAgent()
        finally machine.detach()
      }

  private def connect(url: String): MBeanServerConnection =
    JMXConnectorFactory.connect(new JMXServiceURL(url)).getMBeanServerConnection

  private def gauges(jvm: MBeanServerConnection): Seq[(String, AnyRef)] =
    jvm.queryNames(Gauges, null).asScala.toSeq
      .filter(_.getKeyProperty("name").contains(".sparklatency.query."))
      .flatMap(gauge => ifThere(gauge.getKeyProperty("name") -> jvm.getAttribute(gauge, "Value")))

  private def tasks(jvm: MBeanServerConnection): Seq[(String, AnyRef)] =
    jvm.queryNames(Tasks, null).asScala.toSeq
      .flatMap(bean => ifThere(bean.getCanonicalName -> jvm.getAttribute(bean, "records")))

  /** A bean that was listed may be gone when it is read. */
  private def ifThere[A](read: => A): Option[A] =
    try Some(read)
    catch { case _: InstanceNotFoundException => None }
}
