package io.sparklatency.spark

import java.sql.Timestamp

import io.sparklatency.spark.Lines.MemoryStream
import org.apache.spark.sql.functions._

/** Joins of two streams go by a system-time watermark. The lag is 10 s. */
class SystemTimeJoinsSuite extends SystemTimeTest {

  /** Both sides have 1, the left alone 2, the right alone 3. */
  private def joined(kind: String)(body: Running => Unit): Unit = {
    val (left, right) = (stream, stream)
    def side(input: MemoryStream[Timestamp], name: String) = lagging(input).select(col("value").as(name))
    val pairs = side(left, "l").join(side(right, "r"), expr("l = r"), kind)
    running(pairs.select(pairs.columns.toSeq.map(seconds): _*)) { it =>
      right.addData(at(1, 3))
      it.reads(left, 1, 2)
      body(it)
    }
  }

  /**
   * @param matched   what is given out at once
   * @param unmatched what is given out when the clock is past it by the lag
   */
  private def outer(kind: String)(matched: Seq[Any]*)(unmatched: Seq[Any]*): Unit =
    test(s"a $kind join gives out rows without a match, and forgets") {
      joined(kind) { it =>
        it.comesTo(11.9)
        assert(it.rows === matched)
        it.comesTo(13)
        it.comesTo(14)
        assert(it.rows.toSet === (matched ++ unmatched).toSet)
        assert(it.rows.size === matched.size + unmatched.size)
        assert(it.kept === 0)
      }
    }

  outer("right_outer")(Seq(1.0, 1.0))(Seq(null, 3.0))
  outer("full_outer")(Seq(1.0, 1.0))(Seq(2.0, null), Seq(null, 3.0))
  outer("left_semi")(Seq(1.0))()

  test("a self-join has it twice") {
    val input = stream
    val df = lagging(input)
    val joined = df.select(col("value").as("l")).join(df.select(col("value").as("r")), expr("l = r"))
    running(joined.select(seconds("l"))) { it =>
      it.reads(input, 1)
      assert(it.rows === Seq(Seq(1.0)))
      it.comesTo(12)
      assert(it.kept === 0)
    }
  }
}
