import io.sparklatency.compat.Scala213

package io.sparklatency {
  package object spark extends Scala213

  package spark {
    package object base extends Scala213
  }
}

package org.apache.spark.sql {
  package object latency extends Scala213

  package latency {
    package object application extends Scala213
    package object history extends Scala213
    package object marking extends Scala213
    package object metrics extends Scala213
    package object planning extends Scala213
    package object recording extends Scala213
    package object sql extends Scala213
    package object tracking extends Scala213
    package object ui extends Scala213
  }
}

package org.apache.spark.status.api.v1 {
  package object latency extends Scala213
}
