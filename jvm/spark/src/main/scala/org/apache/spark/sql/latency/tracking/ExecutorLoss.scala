package org.apache.spark.sql.latency.tracking

/** Why an executor was lost. Without state, for any thread. */
private object ExecutorLoss {

  /**
   * In a line; none where Spark let it go, as dynamic allocation and whoever calls `killExecutors` do. One whose machine goes is lost, also
   * if Spark is told before.
   *
   * @param reason as Spark has it
   */
  def of(reason: String): Option[String] =
    Option(
      reason
    ).map(_.strip).filterNot(why => why.isEmpty || LetGo.exists(why.contains)).map(FailureText.of)

  /** Whether it no longer answered. On Kubernetes Spark first says of such a one that the driver has killed it. */
  def isOverdue(reason: String): Boolean = Option(reason).exists(_.contains("heartbeat timed out"))

  /** Spark's own words, where dynamic allocation ends one, and where that decommissions it. */
  private val LetGo = Seq("Executor killed by driver", "spark scale down")
}
