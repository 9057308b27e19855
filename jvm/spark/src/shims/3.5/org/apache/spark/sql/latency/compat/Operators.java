package org.apache.spark.sql.latency.compat;

import org.apache.spark.sql.execution.streaming.StateStoreWriter;

/** What operators say of themselves. In Java, which sees what is protected in Scala. Without state. */
final class Operators {
  private Operators() {}

  static String shortName(StateStoreWriter operator) {
    return operator.shortName();
  }
}
