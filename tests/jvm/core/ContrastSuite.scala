package io.sparklatency

import io.sparklatency.drawing.GraphDrawing
import io.sparklatency.drawing.Stylesheet
import io.sparklatency.path.LatencyPath
import org.scalatest.funsuite.AnyFunSuite

/** Colours can be told from the page, in both of its themes. Contrast is as WCAG 2.1 defines it. */
class ContrastSuite extends AnyFunSuite {
  import ContrastSuite._

  private val themes = Seq(
    Theme("light", colour("#ffffff"), colour("#212529"), 0.75, colour("#664d03"), colour("#58151c")),
    Theme("dark", colour("#212529"), colour("#dee2e6"), 0.75, colour("#ffda6a"), colour("#ea868f"))
  )

  for (theme <- themes) {
    test(s"parts of an age and phases of a batch stand out from a ${theme.name} page") {
      val kinds = raw"\.latency-(part|phase)-([\w-]+).*? --latency-\1: (#\w{6})".r
        .findAllMatchIn(Stylesheet.css).map(found => found.group(2) -> colour(found.group(3))).toSeq
      assert(kinds.size === 16)
      for ((name, plain) <- kinds)
        assert(contrast(mixed(plain, theme.text, lift(theme)), theme.page) >= 3, name)
    }

    // The page has 3 to 1 with either, as above. How wide it is between them is only what the style sheet says: half a
    // pixel between phases is seen as a lighter or darker line, not as the page's own colour.
    test(s"the style sheet has the ${theme.name} page between neighbours in a bar") {
      assert(rule("latency-split").contains("gap: 2px"))
      assert(rule("latency-phase").contains("stroke-width: .5px"))
      assert(rule("latency-phase").contains("stroke: var(--bs-body-bg)"))
    }

    test(s"lines, bands and boxes stand out from a ${theme.name} page") {
      val line = variable(theme, "line")
      val band = mixed(theme.page, line, number("latency-band", "fill-opacity"))
      val edge = mixed(theme.page, theme.text, theme.secondary)
      assert(rule("latency-avg").contains("stroke: var(--latency-line)"))
      assert(rule("latency-max").contains("stroke: var(--latency-high)"))
      assert(rule("latency-box").contains("stroke: var(--bs-secondary-color)"))
      val marks = Seq(
        "avg" -> line,
        "max" -> variable(theme, "high"),
        "band" -> mixed(band, line, number("latency-band", "stroke-opacity")),
        "box" -> edge
      )
      for ((name, mark) <- marks) assert(contrast(mark, theme.page) >= 3, name)
    }

    test(s"ticks, notes and muted text can be read on a ${theme.name} page") {
      val secondary = mixed(theme.page, theme.text, theme.secondary)
      val texts = Seq(
        ("latency-tick", "fill", "secondary-color", secondary), // as Spark's class of muted text has it
        ("latency-note", "color", "secondary-color", secondary),
        ("latency-note-warn", "color", "warning-text-emphasis", theme.warning),
        ("latency-note-wrong", "color", "danger-text-emphasis", theme.danger)
      )
      for ((style, property, variable, text) <- texts) {
        assert(rule(style).contains(s"$property: var(--bs-$variable)"))
        assert(contrast(text, theme.page) >= 4.5, style)
      }
    }

    test(s"text on the warmest node can be read on a ${theme.name} page") {
      val drawn = new GraphDrawing(new LatencyPath(Seq(Aged.node("all")(1000))), identity).svg
      val opacity = raw"""fill-opacity="([\d.]+)"""".r.findFirstMatchIn(drawn).get.group(1).toDouble
      assert(opacity > 0.4)
      assert(contrast(theme.text, mixed(theme.page, variable(theme, "heat"), opacity)) >= 4.5)
    }
  }

  test("where Spark's pages set no colours of a theme, those of a light page stand in, and nowhere else") {
    val light = themes.head
    def found(pattern: String, in: String) = pattern.r.findAllMatchIn(in).map(_.group(1)).toSeq
    val standIns = found(raw":where\(:root\) \{(.*?)\}", Stylesheet.css).mkString
    val set = found(raw"(--bs-[\w-]+):", Stylesheet.css)
    assert(set === found(raw"(--bs-[\w-]+):", standIns), "a page's own theme comes first")
    assert(set.toSet === found(raw"var\((--bs-[\w-]+)\)", Stylesheet.css).toSet)
    def value(name: String) = found(s"--bs-$name: ([^;]+);", standIns).head
    val colours = Seq("body-bg", "body-color", "warning-text-emphasis", "danger-text-emphasis").map(value)
    assert(colours.map(colour) === Seq(light.page, light.text, light.warning, light.danger))
    assert(value("secondary-color") === "rgba(33, 37, 41, 0.75)")
  }

  private def rule(name: String): String =
    raw"\.$name \{(.*?)\}".r.findFirstMatchIn(Stylesheet.css).get.group(1)

  private def number(rule: String, name: String): Double =
    raw"(?<![\w-])$name: ([\d.]+)".r.findFirstMatchIn(this.rule(rule)).get.group(1).toDouble

  /** What the theme sets, else what all have. */
  private def setting(theme: Theme, name: String): String = {
    val dark =
      raw"""\[data-bs-theme="dark"\] \{.*?--latency-$name: ([^;]+);""".r.findFirstMatchIn(Stylesheet.css)
    val all = raw":root \{.*?--latency-$name: ([^;]+);".r.findFirstMatchIn(Stylesheet.css)
    dark.filter(_ => theme.name == "dark").orElse(all).get.group(1)
  }

  private def variable(theme: Theme, name: String): Colour = colour(setting(theme, name))

  private def lift(theme: Theme): Double = setting(theme, "lift").stripSuffix("%").toDouble / 100

  private def colour(hex: String): Colour =
    hex.drop(1).grouped(2).map(Integer.parseInt(_, 16) / 255.0).toSeq

  private def mixed(under: Colour, over: Colour, share: Double): Colour =
    under.zip(over).map { case (a, b) => a * (1 - share) + b * share }

  private def contrast(one: Colour, other: Colour): Double = {
    val both = Seq(luminance(one), luminance(other))
    (both.max + 0.05) / (both.min + 0.05)
  }

  private def luminance(colour: Colour): Double = {
    val linear =
      colour.map(part => if (part <= 0.04045) part / 12.92 else math.pow((part + 0.055) / 1.055, 2.4))
    linear.zip(Seq(0.2126, 0.7152, 0.0722)).map { case (part, weight) => part * weight }.sum
  }
}

object ContrastSuite {
  private type Colour = Seq[Double]

  /** Of Bootstrap 5.3, which Spark's pages use. */
  private final case class Theme(
      name: String,
      page: Colour,
      text: Colour,
      secondary: Double,
      warning: Colour,
      danger: Colour
  )
}
