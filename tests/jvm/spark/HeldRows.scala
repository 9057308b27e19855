package io.sparklatency.spark

/** What a step does that takes long with each row. */
private object HeldRows {

  def hold(id: Long): Long = {
    val until = System.nanoTime() + 600L * 1000 * 1000
    while (System.nanoTime() < until) Thread.onSpinWait()
    id
  }
}
