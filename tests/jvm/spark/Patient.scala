package io.sparklatency.spark

import java.net.InetAddress
import java.net.ServerSocket

import org.scalatest.concurrent.Eventually
import org.scalatest.time.Seconds
import org.scalatest.time.Span

/** Waits for what happens in another thread, a minute at the most: a test that waits in vain fails, and does not stand still. */
trait Patient extends Eventually {
  private val most = Span(60, Seconds)

  implicit override def patienceConfig: PatienceConfig = PatienceConfig(timeout = most)

  /** A port of this machine, whose client is waited for as long. */
  protected def listening(): ServerSocket = {
    val server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress)
    server.setSoTimeout(most.toMillis.toInt)
    server
  }
}
