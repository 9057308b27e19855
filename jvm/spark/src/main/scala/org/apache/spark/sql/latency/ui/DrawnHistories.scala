package org.apache.spark.sql.latency.ui

import java.util.LinkedHashMap
import java.util.Map.Entry

import scala.xml.NodeSeq

/**
 * The charts of the histories that were asked for last. A chart of a hundred batches takes as long as the rest of its page, and stays as
 * it is until the next batch is committed, however often somebody looks.
 *
 * What is kept holds as long as the newest batch is the same object. A store on disk makes a new one each time: there all is drawn anew.
 * Keeps a hundred kilobytes for each run, of at most [[DrawnHistories.Kept]] runs. Thread-safe; two threads may draw the same.
 */
private[ui] final class DrawnHistories {
  import DrawnHistories._

  private val ofRuns = new LinkedHashMap[String, Drawn](Kept, 0.75f, true) {
    override def removeEldestEntry(eldest: Entry[String, Drawn]): Boolean = size > Kept
  }

  /** @param newest the newest batch of the run, if there is one */
  def apply(run: String, newest: Option[AnyRef], nodes: Seq[String])(draw: => NodeSeq): NodeSeq =
    newest.fold(draw) { batch =>
      known(run).filter(one => one.newest.eq(batch) && one.nodes == nodes).fold {
        val charts = draw
        synchronized(ofRuns.put(run, new Drawn(batch, nodes, charts)))
        charts
      }(_.charts)
    }

  private def known(run: String): Option[Drawn] = synchronized(Option(ofRuns.get(run)))
}

private object DrawnHistories {
  private val Kept = 16

  private final class Drawn(val newest: AnyRef, val nodes: Seq[String], val charts: NodeSeq)
}
