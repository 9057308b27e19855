package org.apache.spark.sql.latency

import java.util.concurrent.LinkedBlockingQueue
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger

import io.sparklatency.spark.Logged
import io.sparklatency.spark.Patience
import org.apache.spark.sql.latency.metrics.EndedRuns
import org.scalatest.funsuite.AnyFunSuite

/** How an executor takes away what has ended. In Spark's package for what only ours may call. */
class EndedRunsSuite extends AnyFunSuite {
  private val missing = "org/apache/spark/Moved"

  for (failure <- Seq[Throwable](new IllegalStateException(missing), new NoClassDefFoundError(missing)))
    test(s"an executor asks again where asking failed, and says so once: ${failure.getClass.getSimpleName}") {
      val (asked, ended) = (new AtomicInteger, new LinkedBlockingQueue[String])
      val log = Logged.during {
        val runs = new EndedRuns(
          () => Seq("goes on", "is over"),
          shown => if (asked.incrementAndGet() <= 2) throw failure else shown.filter(_ == "is over"),
          ended.put,
          periodMs = 1
        )
        try assert(ended.poll(Patience.Seconds, TimeUnit.SECONDS) === "is over")
        finally runs.stop()
      }
      assert(log.count(_.contains("does not say which queries have ended")) === 1)
    }
}
