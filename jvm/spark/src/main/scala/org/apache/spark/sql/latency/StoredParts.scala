package org.apache.spark.sql.latency

import io.sparklatency.figures.Admission
import io.sparklatency.figures.AgeParts
import io.sparklatency.figures.Filling
import io.sparklatency.figures.Waits

/** What held back the records of a batch, in its event: an [[Admission]] in types that Jackson reads as it wrote them. Field names stand in event logs. */
final case class StoredAdmission(
    sinceMs: Long,
    fixedMs: Long,
    endedMs: Long,
    startMs: Long,
    tookMs: Long,
    limit: String,
    intervalMs: java.lang.Long,
    fromFirst: Boolean
) {
  def admission: Admission = Admission(
    sinceMs,
    fixedMs,
    endedMs,
    startMs,
    tookMs,
    Option(limit),
    Option(intervalMs).map(_.toLong),
    fromFirst
  )
}

/** Writes an admission as an event has it. */
object StoredAdmission {
  def apply(admission: Admission): StoredAdmission = StoredAdmission(
    admission.sinceMs,
    admission.fixedMs,
    admission.endedMs,
    admission.startMs,
    admission.tookMs,
    admission.limit.orNull,
    admission.intervalMs.map(Long.box).orNull,
    admission.fromFirst
  )
}

/** What made a batch's records old, in its event: an [[AgeParts]], in milliseconds. Field names stand in event logs. */
final case class StoredParts(
    end: String,
    arrivedOld: Double,
    backlog: Double,
    batchBefore: Double,
    trigger: Double,
    start: Double,
    work: Double,
    state: Double,
    commit: Double
) {
  def parts: AgeParts =
    AgeParts(end, Waits(arrivedOld, backlog, batchBefore, trigger, start), work, state, commit)
}

/** Writes parts as an event has them. */
object StoredParts {
  def apply(parts: AgeParts): StoredParts = {
    val waits = parts.waits
    StoredParts(
      parts.end,
      waits.arrivedOld,
      waits.backlog,
      waits.batchBefore,
      waits.trigger,
      waits.start,
      parts.work,
      parts.state,
      parts.commit
    )
  }
}

/** What filled an earlier batch, in an event: a [[Filling]], in milliseconds. Field names stand in event logs. */
final case class StoredFilling(tookMs: Double, kind: String, nodes: Array[String], ms: Double) {

  /** None of a kind that this sparklatency does not know. */
  def filling: Option[Filling] =
    Filling.kinds.find(_.name == kind).map(Filling(tookMs, _, nodes.toSeq, ms))
}

/** Writes it as an event has it. */
object StoredFilling {
  def apply(filling: Filling): StoredFilling =
    StoredFilling(filling.tookMs, filling.kind.name, filling.nodes.toArray, filling.ms)
}
