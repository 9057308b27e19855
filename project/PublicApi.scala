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

  val writeApi = taskKey[File]("keeps the public API as it is, to be compared with from now on")

  private val kept =
    Def.setting((LocalRootProject / baseDirectory).value / "tests" / "jvm" / "mima" / s"$Since.jar")

  val settings: Seq[Setting[_]] = Seq(
    mimaPreviousClassfiles := Map(organization.value %% moduleName.value % Since -> kept.value),
    writeApi := {
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
