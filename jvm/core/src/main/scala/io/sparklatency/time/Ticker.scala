package io.sparklatency.time

import java.util.concurrent.atomic.AtomicBoolean

/**
 * A number that changes about every millisecond while somebody cares. It says *that* time has passed, never what time it is:
 * its thread can be kept from running for tens of milliseconds. The thread ends when nobody has asked for a second.
 */
private object Ticker {
  @volatile var now = 0L
  @volatile private var wanted = false
  private[time] val running = new AtomicBoolean(false)
  private val IdleTicks = 1000

  def keepGoing(): Unit = {
    if (!wanted) wanted = true
    if (!running.get && running.compareAndSet(false, true)) start()
  }

  private def start(): Unit = {
    val thread = new Thread(() => tickWhileWanted(), "sparklatency-ticker")
    thread.setDaemon(true)
    thread.setContextClassLoader(null) // a task's would be kept alive
    thread.start()
  }

  private def tickWhileWanted(): Unit =
    try {
      var idle = 0
      while (idle < IdleTicks) {
        Thread.sleep(1)
        now += 1
        if (wanted) { wanted = false; idle = 0 }
        else idle += 1
      }
    } finally running.set(false)
}
