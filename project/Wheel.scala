import sbt._

/** The Python package names the version; the jars follow it. */
object Wheel {
  lazy val version: String = {
    val project = IO.read(file("python/pyproject.toml"))
    "(?m)^version = \"([^\"]+)\"".r.findFirstMatchIn(project).map(_.group(1))
      .getOrElse(sys.error("python/pyproject.toml has no version"))
  }
}
