package io.sparklatency.spark

import java.nio.file.Files
import java.nio.file.Path

import scala.jdk.CollectionConverters._
import scala.util.Using

import com.tngtech.archunit.base.DescribedPredicate
import com.tngtech.archunit.core.domain.JavaClass
import com.tngtech.archunit.core.domain.JavaClasses
import com.tngtech.archunit.core.importer.ClassFileImporter
import com.tngtech.archunit.lang.ArchRule
import com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes
import com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses
import com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices
import io.sparklatency.time.Clock
import org.scalatest.funsuite.AnyFunSuite

/**
 * The rooms of the house and their order: a class uses its own room and those before it. Read off the bytecode, so a fully
 * qualified name counts as an import does.
 */
class RoomsSuite extends AnyFunSuite {

  /** The first is what Scala 2.12 lacks, and empty elsewhere. */
  private val core = Seq("compat", "time", "recording", "figures", "path", "answer", "drawing", "exposition")
    .map(room => s"io.sparklatency.$room")

  /** The bridge. Its own package holds the event alone, whose name stands in event logs. */
  private val bridge = "org.apache.spark.sql.latency" +: "io.sparklatency.spark.base" +: Seq(
    "compat",
    "recording",
    "marking",
    "planning",
    "tracking",
    "metrics",
    "history",
    "ui",
    "sql",
    "application"
  ).map(room => s"org.apache.spark.sql.latency.$room")

  private val facades =
    Seq("io.sparklatency.spark", "io.sparklatency", "org.apache.spark.status.api.v1.latency")

  private val rooms = core ++ bridge ++ facades

  private val order: Seq[ArchRule] = rooms.zipWithIndex.map { case (room, i) =>
    noClasses().that(in(room)).should().dependOnClassesThat(in(rooms.drop(i + 1): _*)).allowEmptyShould(true)
  }
  private val noSparkInCore =
    noClasses().that(in(core: _*)).should().dependOnClassesThat().resideInAPackage("org.apache.spark..")
  private val inRooms = classes().should().resideInAnyPackage(rooms: _*)

  private def in(packages: String*): DescribedPredicate[JavaClass] =
    new DescribedPredicate[JavaClass](packages.mkString("in ", ", ", "")) {
      override def test(tested: JavaClass): Boolean = packages.contains(tested.getPackageName)
    }

  /** What is shipped: the classes of core and bridge, no tests. */
  private lazy val shipped: JavaClasses =
    new ClassFileImporter().importPaths(Seq(classOf[Clock], syntax.getClass).map(folderOf): _*)

  private def folderOf(of: Class[_]): Path =
    Path.of(of.getProtectionDomain.getCodeSource.getLocation.toURI)

  private def planted(name: String): JavaClasses =
    new ClassFileImporter().importClasses(Class.forName(name))

  private def found(rules: Seq[ArchRule], in: JavaClasses): Seq[String] =
    rules.flatMap(_.evaluate(in).getFailureReport.getDetails.asScala)

  test("every class stands in a room") {
    assert(shipped.size > 200)
    assert(found(Seq(inRooms), shipped).mkString("\n") === "")
  }

  test("a room uses only itself and the rooms before it") {
    assert(found(order, shipped).mkString("\n") === "")
  }

  test("no rooms use one another in a circle") {
    val circles = (Seq(
      "io.sparklatency.(*)..",
      "org.apache.spark.sql.latency.(*).."
    )).map(pattern => slices().matching(pattern).should().beFreeOfCycles())
    assert(found(circles, shipped).mkString("\n") === "")
  }

  test("core knows no Spark") {
    assert(found(Seq(noSparkInCore), shipped).mkString("\n") === "")
  }

  test("a planted use of a later room is found") {
    assert(found(order, planted("io.sparklatency.time.UsesALaterRoom")).exists(_.contains("UsesALaterRoom")))
  }

  test("a planted use of Spark in core is found") {
    val uses = found(Seq(noSparkInCore), planted("io.sparklatency.figures.UsesSparkInCore"))
    assert(uses.exists(_.contains("org.apache.spark.SparkConf")))
  }

  test("a planted class outside every room is found") {
    assert(found(Seq(inRooms), planted("org.apache.spark.sql.latency.attic.OutsideEveryRoom")).nonEmpty)
  }

  /** Aliases leave no trace in bytecode, so this reads the sources. */
  test("what depends on the Spark line is named in the room compat alone") {
    val dependent = Seq(
      "org.apache.spark.sql.classic",
      "execution.streaming.runtime",
      "execution.streaming.operators",
      "execution.streaming.RealTimeTrigger",
      "execution.streaming.ContinuousTrigger",
      "v2.StreamingDataSourceV2ScanRelation",
      "ADAPTIVE_EXECUTION_ENABLED_IN_STATELESS_STREAMING",
      "StreamSourceAwareSparkPlan",
      "jakarta.",
      "javax.servlet",
      "javax.ws.rs"
    )
    val uses = for {
      source <- sources(Path.of("src", "main"))
      line <- Files.readAllLines(source).asScala if dependent.exists(line.contains)
    } yield s"${source.getFileName}: $line"
    assert(uses.mkString("\n") === "")
    assert(sources(Path.of("src", "shims")).exists(source =>
      dependent.exists(Files.readString(source).contains)
    ))
  }

  private def sources(folder: Path): Seq[Path] =
    Using.resource(Files.walk(folder))(_.iterator.asScala.filter(_.toString.endsWith(".scala")).toList)
}
