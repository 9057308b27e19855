ThisBuild / organization := "io.sparklatency"
ThisBuild / version := Wheel.version
ThisBuild / scalaVersion := "2.13.18"
ThisBuild / versionScheme := Some("early-semver")
ThisBuild / scalacOptions ++= Seq("-deprecation", "-feature", "-Xlint", "-Wunused", "-Werror", "-release:17")
ThisBuild / semanticdbEnabled := true

val histogram = "2.2.2"

/** Tests live beside one another in `tests/jvm`, not inside the modules. */
def testsIn(folder: String) = Seq(
  Test / scalaSource := (LocalRootProject / baseDirectory).value / "tests" / "jvm" / folder,
  Test / resourceDirectory := (LocalRootProject / baseDirectory).value / "tests" / "jvm" / "resources",
  libraryDependencies ++= Seq(
    "org.scalatest" %% "scalatest" % "3.2.19" % Test,
    "org.scalatestplus" %% "scalacheck-1-18" % "3.2.19.0" % Test
  ),
  Test / fork := true,
  Test / parallelExecution := false,
  Test / testOptions += Tests.Argument(TestFrameworks.ScalaTest, "-oD")
)

/** What Spark's own launcher passes to a JVM of 17 or newer. */
val sparkJvm = Seq(
  "java.base/java.lang",
  "java.base/java.lang.invoke",
  "java.base/java.lang.reflect",
  "java.base/java.io",
  "java.base/java.net",
  "java.base/java.nio",
  "java.base/java.util",
  "java.base/java.util.concurrent",
  "java.base/java.util.concurrent.atomic",
  "java.base/jdk.internal.ref",
  "java.base/sun.nio.ch",
  "java.base/sun.nio.cs",
  "java.base/sun.security.action",
  "java.base/sun.util.calendar"
).flatMap(p => Seq("--add-opens", s"$p=ALL-UNNAMED")) ++ Seq(
  "-Xmx2g",
  "-Djdk.reflect.useDirectMethodHandle=false"
)

/**
 * Tests run most of their code a few times: the optimising compiler would take a third of the processors for nothing. Without it the room
 * for code would be a fifth, and when it is full nothing is compiled any more.
 */
val shortLived = Seq("-XX:TieredStopAtLevel=1", "-XX:ReservedCodeCacheSize=240m", "-XX:+UseSerialGC")

/** Three forked JVMs at a time: with two, two processors have nothing to do for a fifth of the time. */
Global / concurrentRestrictions := Seq(
  Tags.limitAll(3),
  Tags.limit(Tags.Compile, 2),
  Tags.limit(Tags.ForkedTestGroup, 3),
  Tags.exclusiveGroup(Tags.Clean)
)

/**
 * A project's suites in so many forks, each of which runs its own one after another. Three forks run at a time, of whatever project, so
 * that a line with more suites than all others does not outlast them with one processor idle.
 */
def inForks(count: Int) = Seq(
  Test / parallelExecution := true,
  Test / testGrouping := {
    val options = (Test / forkOptions).value
    val suites = (Test / definedTests).value.sortBy(_.name).zipWithIndex
    suites.groupBy { case (_, place) => place % count }.toSeq.sortBy(_._1).map { case (fork, of) =>
      Tests.Group(s"fork $fork", of.map(_._1), Tests.SubProcess(options))
    }
  }
)

/** All but the bridges of older lines, whose sources are those of the others but for their shims. */
lazy val root = project
  .in(file("."))
  .aggregate(core, bench)
  .aggregate(SparkLine.newest.filter(_.isMeant).map(line =>
    LocalProject(bridgeOf(line)): ProjectReference
  ): _*)
  .settings(publish / skip := true)

/** Pure Scala: clock, recorder, summaries, names. Spark is not on its class path. */
lazy val core = project.in(file("jvm/core")).settings(coreSettings)

/** The same for Scala 2.12. */
lazy val core212 = project
  .in(file("jvm/core"))
  .settings(coreSettings, SparkLine.scala212, SparkLine.lintedShims)
  .settings(
    target := baseDirectory.value / "target" / "2.12",
    Compile / unmanagedSourceDirectories += baseDirectory.value / "src" / "shims" / "2.12",
    Test / unmanagedSourceDirectories += (LocalRootProject / baseDirectory).value / "tests" / "jvm" / "shims" / "2.12",
    // Binary literals, and random numbers between two others, are of Scala 2.13.
    Test / unmanagedSources / excludeFilter := HiddenFileFilter || "BucketCountsSuite.scala" || "KafkaStreamsCasesSuite.scala"
  )

lazy val coreSettings = testsIn("core") ++ Seq(
  name := "sparklatency-core",
  publish / skip := true, // each bridge's jar holds it
  libraryDependencies ++= Seq(
    "org.hdrhistogram" % "HdrHistogram" % histogram % Test, // says what percentiles must be
    "io.prometheus" % "prometheus-metrics-exposition-textformats" % "1.8.0"
  )
)

/** The extension of Spark: façades and bridge. Each Spark line has a project and a jar, `bridge42` for Spark 4.2. */
lazy val bridges = new CompositeProject {
  val componentProjects: Seq[Project] = SparkLine.all.map(bridge)
}

val testLine = taskKey[Unit]("runs the suites that depend on the Spark line")

def bridgeOf(spark: SparkLine): String = s"bridge${spark.key.replace(".", "")}"

def coreOf(spark: SparkLine): ProjectReference = LocalProject(if (spark.isOfScala212) "core212" else "core")

def bridge(spark: SparkLine): Project =
  Project(bridgeOf(spark), file("jvm/spark"))
    .dependsOn(coreOf(spark))
    .settings(
      testsIn("spark"),
      spark.settings,
      spark.linted,
      if (spark.isOfScala212) SparkLine.scala212 else Nil,
      Jar.settings(spark),
      Publication.settings(coreOf(spark)),
      PublicApi.settings
    )
    .settings(
      name := s"sparklatency-spark_${spark.name}",
      target := baseDirectory.value / "target" / spark.key,
      Compile / unmanagedSourceDirectories ++= spark.shims(baseDirectory.value / "src" / "shims"),
      Test / unmanagedSourceDirectories ++=
        spark.shims((LocalRootProject / baseDirectory).value / "tests" / "jvm" / "shims"),
      Test / unmanagedSources / excludeFilter := HiddenFileFilter || spark.untested || spark.notAsked,
      Test / javaOptions ++= sparkJvm ++ shortLived,
      Test / envVars ++= spark.sampled,
      inForks(if (spark.isWhole) 4 else 1),
      testLine := (Test / testOnly).toTask(spark.suites.map("*." + _).mkString(" ", " ", "")).value,
      libraryDependencies += "com.tngtech.archunit" % "archunit" % "1.3.0" % Test
    )

/** JMH: the cost of the recorder and the clock. Never published. */
lazy val bench = project
  .in(file("jvm/bench"))
  .dependsOn(core)
  .enablePlugins(JmhPlugin)
  .settings(publish / skip := true, libraryDependencies += "org.hdrhistogram" % "HdrHistogram" % histogram)

/** The end-to-end suite's own JVM programs, and the class paths of its broker and of Spark's Kafka connector. */
lazy val e2e = project.in(file("tests/e2e")).settings(E2e.settings)

/** What runs Spark's own test suites with our jar. It knows nothing of ours: half of the time they run without it. */
lazy val sparkSuites = project.in(file("tests/spark_suites")).settings(SparkSuites.settings(sparkJvm))
