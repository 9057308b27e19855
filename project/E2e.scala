import sbt._
import sbt.Keys._

/** What the end-to-end suite takes from Maven, handed to it as text files of paths. */
object E2e {

  /** Spark's Kafka connector: its four jars alone, for Spark has whatever else they name. */
  private val Connector = config("connector").hide

  /** What people read JMX with: agents, each one jar that holds what it needs. */
  private val Agents = config("agents").hide

  /** Delta Lake for the first line: its jars alone, for Spark has whatever else they name. */
  private val Delta = config("delta").hide

  /** A Spark 3.5 for Scala 2.13, which pip does not bring; without its shells. */
  private val Spark35 = config("spark35").hide

  /** Iceberg for the newest Spark that it has a jar for: one that holds all. */
  private val Iceberg = config("iceberg").hide

  private val classpaths = taskKey[Seq[File]]("writes the class paths that the end-to-end suite reads")

  val settings: Seq[Setting[_]] = Seq(
    publish / skip := true,
    ivyConfigurations ++= Seq(Connector, Agents, Delta, Iceberg, Spark35),
    libraryDependencies ++= Seq(
      "org.apache.kafka" %% "kafka" % "4.3.0",
      "org.apache.kafka" % "kafka-tools" % "4.3.0",
      "org.slf4j" % "slf4j-simple" % "1.7.36" % Runtime,
      "org.apache.spark" %% "spark-sql-kafka-0-10" % "4.2.0" % Connector intransitive (),
      "org.apache.spark" %% "spark-token-provider-kafka-0-10" % "4.2.0" % Connector intransitive (),
      "org.apache.kafka" % "kafka-clients" % "3.9.2" % Connector intransitive (),
      "org.apache.commons" % "commons-pool2" % "2.13.1" % Connector intransitive (),
      "io.prometheus.jmx" % "jmx_prometheus_javaagent" % "1.0.1" % Agents intransitive (),
      "io.opentelemetry.javaagent" % "opentelemetry-javaagent" % "2.33.1" % Agents intransitive (),
      "io.delta" %% "delta-spark_4.2" % "4.4.0" % Delta intransitive (),
      "io.delta" % "delta-storage" % "4.4.0" % Delta intransitive (),
      "io.delta" % "delta-kernel-api" % "4.4.0" % Delta intransitive (),
      "io.delta" % "delta-kernel-defaults" % "4.4.0" % Delta intransitive (),
      "org.apache.iceberg" % "iceberg-spark-runtime-4.1_2.13" % "1.12.0" % Iceberg intransitive (),
      "org.apache.spark" %% "spark-sql" % "3.5.9" % Spark35
    ),
    Compile / scalaSource := baseDirectory.value / "jvm",
    classpaths := Seq(
      listed(target.value / "programs.txt", (Runtime / fullClasspath).value.files),
      listed(target.value / "connector.txt", update.value.select(configurationFilter(Connector.name))),
      listed(target.value / "agents.txt", update.value.select(configurationFilter(Agents.name))),
      listed(target.value / "delta.txt", update.value.select(configurationFilter(Delta.name))),
      listed(target.value / "iceberg.txt", update.value.select(configurationFilter(Iceberg.name))),
      listed(target.value / "spark35.txt", update.value.select(configurationFilter(Spark35.name)))
    )
  )

  private def listed(file: File, paths: Seq[File]): File = {
    IO.writeLines(file, paths.map(_.getAbsolutePath))
    file
  }
}
