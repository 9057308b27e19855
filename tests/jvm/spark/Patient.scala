package io.sparklatency.spark

import java.net.InetAddress
import java.net.ServerSocket

import org.scalatest.concurrent.Eventually
import org.scalatest.time.Millis
import org.scalatest.time.Seconds
import org.scalatest.time.Span

/**
 * Waits for what happens in another thread, minutes at the most: a test that waits in vain fails, and does not stand still. It looks ten
 * times a second: most looks write the figures of all queries, beside the task that is waited for.
 */
trait Patient extends Eventually {
  implicit override def patienceConfig: PatienceConfig =
    PatienceConfig(timeout = Span(Patience.Seconds, Seconds), interval = Span(100, Millis))

  /** A port of this machine, whose client is waited for as long. */
  protected def listening(): ServerSocket = {
    val server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress)
    server.setSoTimeout(Patience.Millis.toInt)
    server
  }
}

/**
 * How long something is waited for that comes within seconds, unless the machine is busy. Less where code is broken on purpose, and a
 * test often waits in vain.
 */
object Patience {
  val Seconds: Long = sys.env.get("PATIENCE_SECONDS").fold(240L)(_.toLong)
  val Millis: Long = Seconds * 1000
}
