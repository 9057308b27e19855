import com.typesafe.tools.mima.plugin.MimaKeys.mimaPreviousClassfiles
import sbt._
import sbt.Keys._

/**
 * The Scala API that lasts, as `python/docs/stable.md` names it: `mimaReportBinaryIssues` compares it with what it was. Every other class
 * is left out of what is compared with, and so may change.
 */
object PublicApi {

  /** The version whose programs must go on working. */
  private val Since = "0.1.0"

  private val Public =
    """io/sparklatency/(LatencyPlugin|spark/syntax|spark/base/RecordTimestamp)(\$.*)?\.class""".r

  val writeApi = taskKey[File](
    "keeps the public API as it is, to be compared with from now on; refuses if that of a released version would go"
  )

  private val kept =
    Def.setting((LocalRootProject / baseDirectory).value / "tests" / "jvm" / "mima" / s"$Since.jar")

  /** Programs that were compiled against a released version go on working, whatever the API is now. */
  private def refuseIfReleased(kept: File, changelog: File): Unit =
    if (kept.exists && !IO.readLines(changelog).contains(s"## $Since, unreleased"))
      sys.error(
        s"$kept is the API of $Since, which is released: it stays. For another version to compare with set Since in " +
          "project/PublicApi.scala, and run this again"
      )

  val settings: Seq[Setting[_]] = Seq(
    mimaPreviousClassfiles := Map(organization.value %% moduleName.value % Since -> kept.value),
    writeApi := {
      refuseIfReleased(kept.value, (LocalRootProject / baseDirectory).value / "CHANGELOG.md")
      (Compile / compile).value
      val compiled = (Compile / classDirectory).value
      val classes =
        (compiled ** "*.class").get.sorted.flatMap(file => IO.relativize(compiled, file).map(file -> _))
      val public = classes.filter { case (_, name) =>
        Public.pattern.matcher(name).matches && !name.contains("$anon")
      }
      IO.zip(public, kept.value, Some(0L))
      kept.value
    }
  )
}
