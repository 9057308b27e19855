package org.apache.spark.sql.latency.history

import org.scalatest.funsuite.AnyFunSuite

/** What pages have made of a batch is made once, and never too much of it is kept. */
class MadeOfBatchSuite extends AnyFunSuite {
  import MadeOfBatchSuite._

  test("each thing is made once, and by all that it is made of") {
    val batch = new MadeOfBatch
    var made = 0
    def asked(of: Line): String = batch(of) {
      made += 1
      s"${of.link} $made"
    }
    assert(Seq("a", "b", "a", "b").map(link => asked(Line(link))) === Seq("a 1", "b 2", "a 1", "b 2"))
    assert(batch(Number("a"))(7) === 7, "another kind of thing is another")
  }

  test("of many things the last few are kept") {
    val batch = new MadeOfBatch
    var made = 0
    def ask(number: Int): Unit = {
      batch(Line(number.toString)) {
        made += 1
        ""
      }
      ()
    }
    (1 to MadeOfBatch.Most).foreach(ask)
    (1 to MadeOfBatch.Most).foreach(ask)
    assert(made === MadeOfBatch.Most)
    ask(MadeOfBatch.Most + 1)
    ask(1)
    assert(made === MadeOfBatch.Most + 2, "what was kept before is gone")
  }

  test("what takes the place of what was kept before leaves all else where it is") {
    val batch = new MadeOfBatch
    val all = (1 to MadeOfBatch.Most).map(number => Line(number.toString))
    all.foreach(batch.keep(_, "before"))
    batch.keep(all.head, "now")
    assert(all.map(line => batch.get(line)) === Some("now") +: all.tail.map(_ => Some("before")))
  }
}

private object MadeOfBatchSuite {
  final case class Line(link: String) extends MadeOfBatch.Of[String]
  final case class Number(link: String) extends MadeOfBatch.Of[Int]
}
