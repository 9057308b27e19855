package io.sparklatency

import java.util.Locale

import io.sparklatency.answer.Readable
import org.scalatest.funsuite.AnyFunSuite

/** Figures and ids as people read them. */
class ReadableSuite extends AnyFunSuite {

  for (
    (ms, shown) <- Seq(
      0.0 -> "0 ms",
      -0.04 -> "0 ms",
      0.4 -> "0.4 ms",
      9.96 -> "10 ms",
      340.0 -> "340 ms",
      999.6 -> "1 s",
      4210.0 -> "4.2 s",
      5000.0 -> "5 s",
      59960.0 -> "1 min",
      -1500000.0 -> "-25 min",
      7200000.0 -> "2 h",
      1e12 -> "11,574 d"
    )
  ) test(s"$ms milliseconds are $shown")(assert(Readable.duration(ms) === shown))

  test("what is unknown is an en dash")(assert(Readable.duration(None) === "–"))

  test("a mean has one decimal, and no negative zero") {
    assert(Seq(1234.56, -0.01, -2.0).map(Readable.milliseconds) === Seq("1,234.6", "0.0", "-2.0"))
  }

  test("counts and means are grouped by thousands as Java does it") {
    val digits = (1 to 18).map("123456789987654321".take(_).toLong)
    for (n <- Seq(0L, 999L, 1000L, Long.MinValue, Long.MaxValue) ++ digits ++ digits.map(-_))
      assert(Readable.count(n) === String.format(Locale.ROOT, "%,d", Long.box(n)))
    for (n <- digits.take(12); mean <- Seq(n / 10.0, -n / 10.0, n / 3.0))
      assert(Readable.milliseconds(mean) === String.format(Locale.ROOT, "%,.1f", Double.box(mean)))
  }

  test("a share that rounds to nothing is not nothing") {
    assert(Seq(0.0, 0.004, 0.73, 1.0).map(Readable.percent) === Seq("0 %", "< 1 %", "73 %", "100 %"))
  }

  test("a long id loses its middle, and no half of a character") {
    assert(Readable.shortened("source-0-kafka[orders]", 22) === "source-0-kafka[orders]")
    assert(Readable.shortened("source-0-kafka[orders-2]", 11) === "sourc…rs-2]")
    assert(Readable.shortened("🙂" * 9, 4) === "🙂🙂…🙂")
  }

  test("a name in a sentence is on one line, with what cannot be seen as in Python") {
    assert(Readable.name("a\n\t\r\u001b\u200b b\u00a0é🙂") === "a\\n\\t\\r\\x1b\\u200b b\\xa0é🙂")
    assert(Readable.name("\udbff\udfff") === "\\U0010ffff")
  }

  test("a long name in a sentence has 48 characters, and no half of one that cannot be seen") {
    assert(Readable.name("a" * 48) === "a" * 48)
    assert(Readable.name("a" * 30 + "b" * 30) === "a" * 24 + "…" + "b" * 23)
    assert(Readable.name("a" * 22 + "\n\n" + "b" * 30) === "a" * 22 + "\\n…" + "b" * 23)
    assert(Readable.name("a" * 23 + "\n" + "b" * 30) === "a" * 23 + "…" + "b" * 23)
  }

  test("names are told as a list in a sentence") {
    assert(Seq(Seq("a"), Seq("a", "b"), Seq("a", "b", "c")).map(Readable.all) ===
      Seq("a", "a and b", "a, b and c"))
  }

  test("of a very long name only the ends are looked at") {
    assert(Readable.name("a" * 1000000 + "b" * 1000000) === "a" * 24 + "…" + "b" * 23)
    assert(Readable.name("🙂" * 100000) === "🙂" * 24 + "…" + "🙂" * 23)
    assert(Readable.name("\n" * 100000) === "\\n" * 12 + "…" + "\\n" * 11)
  }

  test("a text is cut at its end, and stays on one line") {
    assert(Readable.cut("a\nb") === "a\\nb")
    assert(Readable.cut("a" * 200) === "a" * 200)
    assert(Readable.cut("a" * 1000000) === "a" * 199 + "…")
    assert(Readable.cut("🙂" * 1000000, 4) === "🙂" * 3 + "…")
  }

  test("up to ten names are told in their order, of more the first ten and how many more there are") {
    assert(Readable.names(Nil) === "")
    assert(Readable.names(Seq("b", "a"), Some("a")) === "'b', 'a'")
    val many = (1 to 1012).map(i => s"column_$i")
    assert(Readable.names(many) === (1 to 10).map(i => s"'column_$i'").mkString(", ") + " and 1,002 more")
  }

  test("of many names those are told that are nearest to the one that was asked for") {
    val many = (1 to 20).map(i => s"amount_$i") ++ Seq("order_time", "ordertime", "other_time", "Order_Tim")
    val told = Readable.names(many, Some("order_tme"))
    assert(told.startsWith("'order_time', 'ordertime', 'Order_Tim', 'other_time', 'amount_1', "), told)
    assert(told.endsWith(" and 14 more"))
  }
}
