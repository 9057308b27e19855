package org.apache.spark.sql.latency.recording;

import org.apache.spark.sql.execution.CodegenSupport;
import org.apache.spark.sql.execution.UnionExec;

/** Where an operator stands in its stage of generated code. In Java, which sees what is protected in Scala. */
final class StageCode {
  private StageCode() {}

  /**
   * Whether it is of a branch of a union. A task runs the code of one branch, and what all of them initialize. Asked while the stage's code
   * is generated.
   */
  static boolean isInUnion(CodegenSupport operator) {
    CodegenSupport at = operator.parent();
    while (at != null && !(at instanceof UnionExec)) at = at.parent();
    return at != null;
  }
}
