package io.sparklatency.spark

/** What a step does that takes so long with each row that the task publishes before the next one. */
private object HeldRows {

  def hold(id: Long): Long = {
    val until = System.nanoTime() + (SparkTest.PublishAfterMs + 100) * 1000 * 1000
    while (System.nanoTime() < until) Thread.onSpinWait()
    id
  }
}
