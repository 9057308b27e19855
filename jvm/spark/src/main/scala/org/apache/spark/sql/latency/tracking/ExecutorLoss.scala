package org.apache.spark.sql.latency.tracking

/** Why an executor was lost. Without state, for any thread. */
private object ExecutorLoss {

  /**
   * In a line; none where Spark let it go because it had no more use for it. One whose machine goes is lost, also if Spark is told before.
   *
   * @param reason as Spark has it. One that no longer answers is killed with another reason than [[LetGo]]
   */
  def of(reason: String): Option[String] =
    Option(reason).filterNot(why => why.isEmpty || LetGo.exists(why.contains)).map(FailureText.of)

  /** Spark's own words, where dynamic allocation ends one, and where that decommissions it. */
  private val LetGo = Seq("Executor killed by driver", "spark scale down")
}
