import sbt._
import sbt.Keys._
import sbtassembly.AssemblyKeys._
import scala.xml.{Elem, Node, NodeSeq}
import scala.xml.transform.{RewriteRule, RuleTransformer}

/** What a release uploads of a jar: the assembly, the sources and API docs of all that is ours in it, and a POM. */
object Publication {

  def settings(core: ProjectReference): Seq[Setting[_]] = Seq(
    moduleName := name.value, // sbt would make "4-2" of "4.2"
    publishMavenStyle := true,
    publishTo := Some(MavenCache(
      "release",
      (LocalRootProject / baseDirectory).value / "dist" / "release" / "maven"
    )),
    Compile / packageBin := assembly.value,
    Compile / packageSrc / mappings ++= (core / Compile / packageSrc / mappings).value,
    Compile / doc / sources ++= (core / Compile / sources).value,
    Compile / doc / scalacOptions := Seq(
      "-release:17",
      "-doc-title",
      s"sparklatency ${version.value}",
      "-no-link-warnings"
    ),
    description := "How old is a record at each step of a Spark pipeline, and which step made it so?",
    licenses := Seq("Apache-2.0" -> url("https://www.apache.org/licenses/LICENSE-2.0.txt")),
    organizationName := "io.sparklatency",
    // Where the sources are is missing until they have a public address: `homepage` and `scmInfo`.
    pomExtra := <developers>
      <developer>
        <name>the sparklatency developers</name>
        <organization>io.sparklatency</organization>
      </developer>
    </developers>,
    pomPostProcess := withoutDependencies
  )

  /** The jar holds what it uses, but for Spark and Scala, and those are there wherever it is loaded. */
  private def withoutDependencies(pom: Node): Node =
    new RuleTransformer(new RewriteRule {
      override def transform(node: Node): NodeSeq = node match {
        case e: Elem if e.label == "dependencies" || e.label == "repositories" => NodeSeq.Empty
        case _ => node
      }
    }).transform(pom).head
}
