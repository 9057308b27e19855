import org.scalafmt.sbt.ScalafmtPlugin.autoImport.scalafmt
import sbt._
import sbt.Keys._
import scalafix.sbt.ScalafixPlugin.autoImport.scalafix

/** A minor line of Spark for a version of Scala: which release stands for it, and where its jars come from. */
sealed abstract class SparkLine(val name: String, val release: String) {

  /** Whether its Spark is of Scala 2.12. */
  def isOfScala212: Boolean = false

  /** What its project and folders are called after: another version of Scala has others. */
  def key: String = name

  /** Of the tests' files those that name what this Spark does not have, or say what Spark 3.5 lacks. */
  def untested: FileFilter = "NewerWatermarksSuite.scala"

  /** And those of suites that it does not run: they are not compiled. */
  def notAsked: FileFilter =
    if (isWhole) NothingFilter
    else new SimpleFileFilter(file =>
      file.getName.endsWith("Suite.scala") && !suites.contains(file.getName.stripSuffix(".scala"))
    )

  /** Of the suites that depend on the line those that it runs: older lines take turns with each. */
  def suites: Seq[String] =
    if (isWhole || SparkLine.newest.contains(this)) SparkLine.suites
    else SparkLine.suites.filter(SparkLine.onTurn(_) == this)

  /** Of the shapes of queries a third is run where not all suites are. */
  def sampled: Map[String, String] = if (isWhole) Map.empty else Map("SAMPLE_PARTS" -> "3")

  def linted: Seq[Setting[_]] = if (this == SparkLine.all.head) Nil else SparkLine.lintedShims

  /** Whether all suites are run on it, and not only those that depend on the line: by `make test` on the first line alone. */
  def isWhole: Boolean = this == SparkLine.all.head || !sys.props.contains("suites.of.line")

  /** Whether it is the one line that `make` was told of, or was told of none. Others may not be installed. */
  def isMeant: Boolean = sys.props.get("spark.line").forall(_ == name)

  /** The settings that put Spark on the compile and test class paths, and keep it out of the jar. */
  def settings: Seq[Setting[_]]

  /** Of the folders in `all`, which are named after the lines they serve (`4.2_4.3`) or a version of Scala, those that serve this one. */
  def shims(all: File): Seq[File] = {
    val served = if (isOfScala212) Set(name, "2.12") else Set(name)
    IO.listFiles(all).toSeq.filter(_.getName.split('_').exists(served))
  }
}

object SparkLine {

  /** Every line that a jar is built for; the first is the home line. */
  def all: Seq[SparkLine] = newest ++ older

  /** Lines of which `make test` runs the tests in Python and from end to end; of the home line also all suites. */
  val newest: Seq[SparkLine] = Seq(new FromMaven("4.2", "4.2.0"), new FromPyspark("4.3", "4.3.0"))

  /** Lines of which it runs one pipeline from end to end, beside the `suites`. */
  val older: Seq[SparkLine] = Seq(
    new FromPyspark("4.1", "4.1.4"),
    new FromPyspark("4.0", "4.0.5"),
    Spark35,
    Spark35OfScala213
  )

  /** What depends on the line: what goes through each name in the room `compat`, and the laws of the house. */
  val suites: Seq[String] = Seq(
    "RoomsSuite",
    "ReferenceSuite",
    "HintSuite",
    "StreamingSuite",
    "ForeachBatchSuite",
    "FirstRowsSuite",
    "CompiledUnionSuite",
    "AutomaticPlansSuite",
    "MarkersOutputSuite",
    "SystemTimeWatermarkSuite",
    "SystemTimeMistakesSuite",
    "SystemTimeRestartSuite",
    "IdleSourcesSuite",
    "NewerWatermarksSuite",
    "ContinuousModeSuite",
    "LongTasksSuite",
    "RealTimeModeSuite",
    "WorkInProgressSuite",
    "LatencyTabSuite",
    "LatencyTabListSuite",
    "LatencyTabAccessSuite",
    "MeasureAfterWorkSuite",
    "ShippedClockSuite"
  )

  /**
   * The older line whose turn it is to run a suite, of those that have it. Each digit of the seed to the base of three counts: within a
   * suite, `Sample` goes by single ones. By the last one alone a line would have the same pairs of shape and mode for ever.
   */
  private def onTurn(suite: String): SparkLine = {
    val seed = sys.env("SAMPLE_SEED").toLong // of `make`
    val having =
      older.filterNot(line => line == Spark35OfScala213 || line.untested.accept(file(s"$suite.scala")))
    having(((suites.indexOf(suite) + seed + seed / 3 + seed / 9) % having.size).toInt)
  }

  /**
   * What all lines share is linted on the first one, and of any other line its shims: what lint reads of a source takes a quarter of the
   * time to compile it.
   */
  val lintedShims: Seq[Setting[_]] = Seq(Compile, Test).flatMap { sources =>
    def shims = Def.task((sources / unmanagedSources).value.filter(_.getPath.contains("/shims/")))
    Seq(
      sources / semanticdbOptions += "-P:semanticdb:include:.*/shims/.*",
      sources / scalafix / unmanagedSources := shims.value,
      sources / scalafmt / unmanagedSources := shims.value
    )
  }

  /** Of what is compiled for such a line. */
  val scala212: Seq[Setting[_]] = Seq(
    scalaVersion := "2.12.18", // as Spark 3.5 has it
    semanticdbEnabled := false, // there is none for this compiler
    // No lint: what Scala 2.13 wants written otherwise is a warning here.
    scalacOptions := Seq("-feature", "-release:17"),
    // Among Spark's own jars.
    libraryDependencies += "org.scala-lang.modules" %% "scala-collection-compat" % "2.7.0" % Provided
  )

  private class FromMaven(line: String, version: String) extends SparkLine(line, version) {
    def settings: Seq[Setting[_]] =
      Seq(libraryDependencies += "org.apache.spark" %% "spark-sql" % version % Provided)
  }

  /** For a line whose artifacts are not in Maven: the jars inside the installed `pyspark` package. */
  private class FromPyspark(line: String, version: String) extends SparkLine(line, version) {
    def settings: Seq[Setting[_]] = Seq(Compile / unmanagedJars ++= {
      val venv = (LocalRootProject / baseDirectory).value / ".venv" / line
      val jars = (venv / "lib" ** "pyspark" / "jars" * "*.jar").classpath
      if (jars.isEmpty) sys.error(s"no pyspark $version under $venv: run `make venv`")
      jars
    })
  }

  /** Without `transformWithState`, and without what moves a watermark. */
  private trait BeforeSpark4 extends SparkLine {
    override def untested: FileFilter = "SystemTime*" | "Idle*" | "WatermarkSurfacesSuite.scala" |
      "AutomaticFunctionsSuite.scala" | "FlinkStampsSuite.scala" | "LatencyBoundsSuite.scala" |
      "PromisedNamesSuite.scala" | "StatefulMatrixSuite.scala"
  }

  private object Spark35 extends FromPyspark("3.5", "3.5.9") with BeforeSpark4 {
    override def isOfScala212: Boolean = true
  }

  /** For those who submit jars to a Spark 3.5 that pip does not bring. */
  private object Spark35OfScala213 extends FromMaven("3.5", "3.5.9") with BeforeSpark4 {
    override def key: String = "3.5_2.13"
  }
}
