package io.sparklatency.sparksuites

import java.nio.file.Files
import java.nio.file.Path
import java.util.Map.{of => json}

import com.fasterxml.jackson.databind.ObjectMapper
import org.scalatest.ResourcefulReporter
import org.scalatest.events._

/**
 * Writes what becomes of each test as soon as it is known, one line of JSON each, to the file that the system property
 * `sparksuites.outcomes` names. So a suite that hangs leaves what it did before, and the name of the test that hangs.
 *
 * ScalaTest calls it from one thread at a time.
 */
final class Outcomes extends ResourcefulReporter {
  private val out = Files.newBufferedWriter(Path.of(System.getProperty("sparksuites.outcomes")))
  private val mapper = new ObjectMapper

  override def apply(event: Event): Unit = event match {
    case e: SuiteStarting =>
      write(json("suite", e.suiteClassName.getOrElse(""), "begun", e.timeStamp))
    case e: TestStarting => test(e.suiteClassName, e.testName, "started")
    case e: TestSucceeded => test(e.suiteClassName, e.testName, "passed", e.duration)
    case e: TestFailed => test(e.suiteClassName, e.testName, "failed", e.duration, e.message)
    case e: TestCanceled => test(e.suiteClassName, e.testName, "canceled", e.duration, e.message)
    case e: TestPending => test(e.suiteClassName, e.testName, "pending")
    case e: TestIgnored => test(e.suiteClassName, e.testName, "ignored")
    case e: SuiteAborted => end(e, e.suiteClassName, "aborted", e.message)
    case e: SuiteCompleted => end(e, e.suiteClassName, "completed")
    case e: RunAborted => end(e, None, "aborted", e.message)
    case _ =>
  }

  override def dispose(): Unit = out.close()

  private def test(
      suite: Option[String],
      name: String,
      outcome: String,
      ms: Option[Long] = None,
      message: String = ""
  ): Unit =
    write(json(
      "suite",
      suite.getOrElse(""),
      "test",
      name,
      "outcome",
      outcome,
      "ms",
      ms.getOrElse(0L),
      "message",
      message
    ))

  private def end(event: Event, suite: Option[String], end: String, message: String = ""): Unit =
    write(json(
      "suite",
      suite.getOrElse(""),
      "end",
      end,
      "at",
      event.timeStamp,
      "message",
      message,
      "batches",
      Measured.batches,
      "nodes",
      Measured.nodes
    ))

  private def write(line: java.util.Map[String, Any]): Unit = {
    out.write(mapper.writeValueAsString(line))
    out.newLine()
    out.flush()
  }
}
