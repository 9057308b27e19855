package org.apache.spark.sql.latency.tracking

import org.apache.spark.Resubmitted
import org.apache.spark.Success
import org.apache.spark.TaskCommitDenied
import org.apache.spark.TaskEndReason
import org.apache.spark.TaskFailedReason
import org.apache.spark.TaskKilled

/** What an attempt of a task failed of. Without state, for any thread. */
private object TaskFailure {

  /** In a line; none where it ended well, also if what it made was lost later, or where Spark had no more use for it. */
  def of(reason: TaskEndReason): Option[String] = reason match {
    case Success | Resubmitted | _: TaskKilled | _: TaskCommitDenied => None
    case failed: TaskFailedReason => Some(FailureText.of(failed.toErrorString))
  }
}
