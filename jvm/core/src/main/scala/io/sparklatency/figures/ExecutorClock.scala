package io.sparklatency.figures

import io.sparklatency.time.ClockOffset

/**
 * The clock of an executor against the driver's. Immutable.
 *
 * @param executor its id; `driver` in local mode, where the driver is its own executor
 */
final case class ExecutorClock(executor: String, offset: ClockOffset)
