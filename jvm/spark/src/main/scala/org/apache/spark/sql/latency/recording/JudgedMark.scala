package org.apache.spark.sql.latency.recording

/**
 * What the plans of a query say of a mark: whether records leave the query there, come in, or are read beside those that leave. Only
 * where they leave or come in are the ages taken from which those at the commit are made.
 *
 * The planning thread says it, before there are tasks. A task is told only that ages are taken.
 */
private[recording] trait JudgedMark {
  @transient private var isAtSource = false
  @transient private var isByAnother = false
  @transient private var isAtEnd = false
  @transient private var isAside = false
  @transient private var judged = false

  /** From here on recorders take ages for the commit. May be called again. */
  protected def refer(): Unit

  /** They do no longer. */
  protected def referNoMore(): Unit

  /**
   * From here on the recorders also take the ages from which those at the commit are made. Costs a task less per record than can be
   * measured, and a walk over the cells of its recorder for each millisecond in which rows pass: some 30 µs where ages are spread over
   * ten seconds.
   */
  def takeAges(): Unit = if (!isAside) {
    judged = true
    isAtEnd = true
    refer()
  }

  /**
   * The same where records come in and others come out, for an operator behind keeps state. Then no commit latency is made of them.
   *
   * @param byAnother whether they go by another timestamp than the watermark does
   */
  def takeAgesAtSource(byAnother: Boolean): Unit = if (!isAside) {
    isAtSource = true
    isByAnother = byAnother
    refer()
  }

  /**
   * None of both, from now on: its records are read beside those that leave the query. Spark passes the plan of a subquery by itself, when
   * it is made and when it runs.
   */
  def takeNoAges(): Unit = {
    judged = true
    isAside = true
    isAtEnd = false
    isAtSource = false
    referNoMore()
  }

  /** None at the commit: the whole plan has others behind it. */
  def passesOn(): Unit = judged = true

  /**
   * Whether one of these has been said of it. A stage of its plan says nothing then: of a plan's last nodes the stage shows some, and it
   * may hide that others stand on a stream.
   */
  def isJudged: Boolean = judged

  /** Whether the ages are those of records that come in. */
  def comesIn: Boolean = isAtSource

  /** Whether these go by another timestamp than the watermark, as Kafka's is where the event has its own. */
  def comesInByAnother: Boolean = isByAnother

  /** Whether no mark stands behind it in its plan. Then foreachBatch may go on with others than come in. */
  def isLast: Boolean = isAtEnd
}
