package io.sparklatency.figures

/**
 * An executor that is gone, and that Spark did not let go.
 *
 * @param why in one line
 */
final case class LostExecutor(executor: String, atMs: Long, why: String)
