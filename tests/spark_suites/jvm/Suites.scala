package io.sparklatency.sparksuites

import java.lang.reflect.Modifier
import java.util.jar.JarFile

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.spark.sql.QueryTest
import org.scalatest.DoNotDiscover
import org.scalatest.Suite

/**
 * Prints which suites of a jar are run, one a line: its kind, a tab and its class.
 *
 *   - `streaming`: all of `org.apache.spark.sql.streaming` and the packages below it
 *   - `batch`: those of `org.apache.spark.sql` itself that compare the results of queries, which Spark's `QueryTest` does
 *   - `unloadable`: one of these packages that needs a class which is not there
 */
object Suites {
  private val Sql = "org.apache.spark.sql"
  private val Streaming = s"$Sql.streaming"

  def main(args: Array[String]): Unit =
    for {
      name <- args.toSeq.flatMap(classes).sorted
      kind <- kind(name)
    } println(s"$kind\t$name")

  private def classes(jar: String): Seq[String] = Using.resource(new JarFile(jar)) {
    _.stream.iterator.asScala.map(_.getName).filter(_.endsWith(".class")).toSeq
  }.map(_.stripSuffix(".class").replace('/', '.')).filterNot(_.contains('$'))

  private def kind(name: String): Option[String] = {
    val place = name.take(name.lastIndexOf('.'))
    val isStreaming = place == Streaming || place.startsWith(s"$Streaming.")
    if (!isStreaming && place != Sql) None
    else
      try {
        val suite = Class.forName(name, false, getClass.getClassLoader)
        if (!isSuite(suite)) None
        else if (isStreaming) Some("streaming")
        else Option.when(classOf[QueryTest].isAssignableFrom(suite))("batch")
      } catch {
        case _: LinkageError => Option.when(name.endsWith("Suite"))("unloadable")
      }
  }

  /** What ScalaTest itself would discover. */
  private def isSuite(found: Class[_]): Boolean =
    classOf[Suite].isAssignableFrom(found) && !Modifier.isAbstract(found.getModifiers) &&
      !found.isAnnotationPresent(classOf[DoNotDiscover]) &&
      found.getConstructors.exists(_.getParameterCount == 0)
}
