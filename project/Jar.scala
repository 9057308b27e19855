import java.util.zip.{ZipEntry, ZipFile, ZipOutputStream}
import sbt._
import sbt.Keys._
import sbtassembly.AssemblyKeys._
import sbtassembly.AssemblyPlugin.autoImport.{MergeStrategy, PathList, ShadeRule}
import scala.jdk.CollectionConverters._

/** The jar of a Spark line: what is ours, what we use of others under a name of ours, and on what terms. */
object Jar {

  /** A zip packs each entry by itself. Where these are not packed already, the wheel packs the jar as one, a third smaller. */
  val unpacked = taskKey[File]("the jar without compression, for the wheel")

  /** What the client has beside the text formats that we write. Nothing that we keep asks for it. */
  private val Unused = Seq(
    "io.prometheus.metrics.config.Exemplars**",
    "io.prometheus.metrics.config.Exporter**",
    "io.prometheus.metrics.config.Metrics**",
    "io.prometheus.metrics.config.OpenMetrics2**",
    "io.prometheus.metrics.config.Prometheus**",
    "io.prometheus.metrics.config.PropertySource",
    "io.prometheus.metrics.config.Util",
    "io.prometheus.metrics.expositionformats.ExpositionFormats",
    "io.prometheus.metrics.expositionformats.OpenMetrics2**",
    "io.prometheus.metrics.expositionformats.PrometheusProtobufWriter",
    "io.prometheus.metrics.model.registry.**",
    "io.prometheus.metrics.model.snapshots.MetricFamilyDescriptor**"
  )

  private val Notice =
    """sparklatency
      |Copyright the sparklatency developers
      |
      |This jar holds parts of the Prometheus instrumentation library for JVM applications (prometheus-metrics-config,
      |prometheus-metrics-model and prometheus-metrics-exposition-textformats), under the package
      |io.sparklatency.shaded.prometheus and under the Apache License, Version 2.0. Its notice says:
      |
      |Prometheus instrumentation library for JVM applications
      |Copyright 2012-2015 The Prometheus Authors
      |
      |This product includes software developed at
      |SoundCloud Ltd. (http://soundcloud.com/).
      |""".stripMargin

  def settings(spark: SparkLine): Seq[Setting[_]] = Seq(
    assembly / assemblyJarName := s"sparklatency-spark_${spark.name}_${scalaBinaryVersion.value}-${version.value}.jar",
    assemblyPackageScala / assembleArtifact := false,
    assembly / assemblyExcludedJars := (Compile / unmanagedJars).value,
    assembly / assemblyShadeRules :=
      Unused.map(ShadeRule.zap(_).inAll) :+
        ShadeRule.rename("io.prometheus.**" -> "io.sparklatency.shaded.prometheus.@1").inAll,
    assembly / assemblyMergeStrategy := {
      // By themselves they would be renamed after the jar.
      case PathList("META-INF", "LICENSE" | "NOTICE") => MergeStrategy.first
      case other => (assembly / assemblyMergeStrategy).value(other)
    },
    assembly / test := {},
    unpacked := stored(assembly.value, target.value / "unpacked"),
    Compile / resourceGenerators += Def.task {
      val folder = (Compile / resourceManaged).value
      val licence = folder / "META-INF" / "LICENSE"
      IO.copyFile((LocalRootProject / baseDirectory).value / "LICENSE", licence)
      licence +: Seq(
        folder / "META-INF" / "NOTICE" -> Notice,
        folder / "io" / "sparklatency" / "build.properties" ->
          s"version=${version.value}\nspark=${spark.name}\nscala=${scalaBinaryVersion.value}\n"
      ).map { case (file, text) => IO.write(file, text); file }
    }
  )

  /** The entries keep their order and times: the same jar gives the same bytes. */
  private def stored(jar: File, folder: File): File = {
    val copy = folder / jar.getName
    IO.createDirectory(folder)
    val from = new ZipFile(jar)
    try {
      val to = new ZipOutputStream(new java.io.FileOutputStream(copy))
      try from.entries.asScala.foreach { entry =>
          val same = new ZipEntry(entry.getName)
          same.setTimeLocal(entry.getTimeLocal) // no time zone comes in
          same.setMethod(ZipEntry.STORED)
          same.setSize(entry.getSize)
          same.setCrc(entry.getCrc)
          to.putNextEntry(same)
          to.write(from.getInputStream(entry).readAllBytes())
          to.closeEntry()
        }
      finally to.close()
    } finally from.close()
    copy
  }
}
