import sbt._
import sbt.Keys._

/**
 * Spark's own test suites and what they run on, handed to `tests/spark_suites` as text files. They come from Maven, which has
 * them of the first line only.
 */
object SparkSuites {
  private val release = SparkLine.all.head.release

  /** What the suites of spark-sql stand on, of Spark's tests. */
  private val Tests =
    Seq("sql", "sql-api", "catalyst", "core", "common-utils", "tags", "connect-shims").map("spark-" + _)

  private val classpath = taskKey[Seq[File]]("writes the class path on which Spark's own suites run")

  /** @param jvm what a JVM is started with that runs Spark */
  def settings(jvm: Seq[String]): Seq[Setting[_]] = Seq(
    publish / skip := true,
    libraryDependencies ++= Seq(
      "org.apache.spark" %% "spark-sql" % release,
      "org.scalatest" %% "scalatest" % "3.2.19",
      "org.scalatestplus" %% "scalacheck-1-18" % "3.2.19.0",
      "org.scalatestplus" %% "mockito-5-12" % "3.2.19.0",
      "org.mockito" % "mockito-core" % "5.12.0",
      "junit" % "junit" % "4.13.2",
      "com.h2database" % "h2" % "2.3.232" % Runtime
    ),
    libraryDependencies ++= Tests.map("org.apache.spark" %% _ % release classifier "tests"),
    Compile / scalaSource := baseDirectory.value / "jvm",
    classpath := {
      val path = (Runtime / fullClasspath).value.files
      val suites = path.filter(_.getName.startsWith(s"spark-sql_${scalaBinaryVersion.value}-$release-tests"))
      // The suites look for their files where Spark's source tree has them, and in no jar.
      val home = target.value / "home"
      val files = home / "sql" / "core" / "src" / "test" / "resources"
      suites.foreach(IO.unzip(_, files, (name: String) => !name.endsWith(".class")))
      Seq(
        written(target.value / "suites.txt", suites.map(_.getAbsolutePath)),
        written(target.value / "classpath.txt", (files +: path).map(_.getAbsolutePath)),
        written(target.value / "jvm.txt", jvm)
      )
    }
  )

  private def written(file: File, lines: Seq[String]): File = {
    IO.writeLines(file, lines)
    file
  }
}
