package io.sparklatency.figures

/**
 * That records come to a node from an operator that may hold them until a later batch, as an aggregate or a join does.
 *
 * @param windowMs how long the windows of time are in which it puts them; none where it puts them in none
 * @param gapMs    how long after its last record a session ends in which it puts them; none where it puts them in none, or it depends on
 *                 the record
 * @param eachBatch whether each batch gives out what there is so far, as in update and complete mode: then none waits for the watermark
 */
final case class Held(
    windowMs: Option[Long] = None,
    gapMs: Option[Long] = None,
    eachBatch: Boolean = false
)
