package io.sparklatency.spark

import io.sparklatency.spark.Lines.MemoryStream
import io.sparklatency.spark.syntax._
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions._
import org.apache.spark.sql.latency.Plans
import org.apache.spark.sql.streaming.GroupState
import org.apache.spark.sql.streaming.GroupStateTimeout
import org.apache.spark.sql.streaming.OutputMode
import org.apache.spark.sql.streaming.StatefulProcessor
import org.apache.spark.sql.streaming.TTLConfig
import org.apache.spark.sql.streaming.TimeMode
import org.apache.spark.sql.streaming.TimerValues
import org.apache.spark.sql.streaming.ValueState

/** A mark below and one above each operator that keeps state, in generated code and without it. */
class StatefulMatrixSuite extends MatrixTest {

  private val compiledAndNot = modes.filter { case (mode, _) =>
    mode == "as Spark is set by default" || mode == "interpreted"
  }

  private val turns = Iterator.from(0)

  /** The same test in each mode, or in the one whose turn it is. The plan then shows the mode. */
  private def inEachMode(name: String, settings: (String, String)*)(body: (String => Unit) => Unit): Unit =
    for ((mode, own) <- sample.modesOf(turns.next(), compiledAndNot))
      test(s"$name, $mode") {
        withSettings(settings ++ own: _*)(body(query => assert(isCompiled(query) === own.isEmpty, mode)))
      }

  private def isCompiled(query: String): Boolean =
    Plans.generatedCode(spark.streams.active.find(_.name == query).get).nonEmpty

  /** The newest event of a key: a function of its state, in each of Spark's ways to write one. */
  private def newest(how: String)(df: DataFrame): DataFrame = {
    import spark.implicits._
    val byKey = df.as[Event].groupByKey(_.key)
    val result = how match {
      case "map" => byKey.mapGroupsWithState(GroupStateTimeout.NoTimeout)(Newest.map _)
      case "flatMap" =>
        byKey.flatMapGroupsWithState(OutputMode.Append, GroupStateTimeout.EventTimeTimeout)(Newest.flatMap _)
      case "transform" => byKey.transformWithState(new Newest, TimeMode.None(), OutputMode.Update)
    }
    result.toDF()
  }

  private val threeAndOneLater =
    Seq(batch(0)("a" -> -100, "b" -> -200, "a" -> -5000), batch(12000)("c" -> 12000))

  /** Name, output mode, operator (its timestamp in the column `at`), batches, ages below the operator, ages above it. */
  private val operators = Seq[(String, String, DataFrame => DataFrame, Seq[Batch], Seq[Long], Seq[Long])](
    (
      "a global aggregation in complete mode",
      "complete",
      _.agg(max("at").as("at")),
      Seq(batch(0)("a" -> -100, "a" -> -5000), batch(1000)("b" -> 950)),
      Seq(100, 5000, 50),
      Seq(100, 50)
    ),
    (
      "session windows in append mode",
      "append",
      _.groupBy(col("key"), session_window(col("at"), "1 second")).agg(max("at").as("at")),
      threeAndOneLater,
      Seq(100, 200, 5000, 0),
      Seq(12100, 12200, 17000)
    ),
    (
      "session windows in complete mode",
      "complete",
      _.groupBy(col("key"), session_window(col("at"), "1 second")).agg(max("at").as("at")),
      threeAndOneLater,
      Seq(100, 200, 5000, 0),
      Seq(100, 200, 5000, 12100, 12200, 17000, 0)
    ),
    (
      "dropDuplicates",
      "append",
      _.dropDuplicates("key", "at"),
      Seq(batch(0)("a" -> -1, "a" -> -1, "a" -> -2), batch(5)("a" -> -1, "b" -> -1, "a" -> 5)),
      Seq(1, 1, 2, 6, 6, 0),
      Seq(1, 2, 6, 0)
    ),
    (
      "dropDuplicatesWithinWatermark, which forgets a key when the watermark passes it",
      "append",
      _.dropDuplicatesWithinWatermark("key"),
      Seq(
        batch(0)("a" -> -1),
        batch(5000)("a" -> 4000),
        batch(30000)("b" -> 29000),
        batch(31000)("a" -> 29500)
      ),
      Seq(1, 1000, 1000, 1500),
      Seq(1, 1000, 1500)
    ),
    (
      "mapGroupsWithState",
      "update",
      newest("map"),
      Seq(batch(0)("a" -> -3, "a" -> -9, "b" -> -5), batch(10)("a" -> 0)),
      Seq(3, 9, 5, 10),
      Seq(3, 5, 10)
    ),
    (
      "flatMapGroupsWithState, which gives out a group when it times out",
      "append",
      newest("flatMap"),
      Seq(batch(0)("a" -> -3, "a" -> -9, "b" -> -5), batch(20000)("c" -> 20000)),
      Seq(3, 9, 5, 0),
      Seq(20003, 20005)
    ),
    (
      "transformWithState",
      "update",
      newest("transform"),
      Seq(batch(0)("a" -> -3, "a" -> -9, "b" -> -5), batch(10)("a" -> -1)),
      Seq(3, 9, 5, 11),
      Seq(3, 5, 11)
    ),
    (
      "a limit, which reads no further in a partition",
      "append",
      _.limit(2),
      Seq(batch(0)("a" -> -1, "b" -> -2, "c" -> -3), batch(10)("d" -> 0)),
      Seq(1, 2, 10),
      Seq(1, 2)
    ),
    (
      "a join with a static table",
      "append",
      df => df.join(spark.createDataFrame(Seq("a" -> 1, "a" -> 2, "b" -> 3)).toDF("key", "n"), "key"),
      Seq(batch(0)("a" -> -1, "x" -> -5), batch(10)("b" -> 3)),
      Seq(1, 5, 7),
      Seq(1, 1, 7)
    )
  )

  for ((name, mode, operator, batches, below, above) <- operators)
    inEachMode(s"marks below and above $name", rocksDb) {
      assertMode =>
        val input = events
        val marked = operator(watermarkedEvents(input).withE2ELatency("below")).withE2ELatency("above", "at")
        inBatches(marked, batches, mode)((events, _) => input.addData(events)) { query =>
          assertMode(query)
          assertAges("below", below, query)
          assertAges("above", above, query)
        }
    }

  /** What comes in by turns in the one and the other stream. */
  private def alternating(
      left: MemoryStream[Event],
      right: MemoryStream[Event]
  )(events: Seq[Event], i: Int): Any =
    if (i % 2 == 0) left.addData(events) else right.addData(events)

  /** Kind, ages above by the left timestamp, ages by the right one; a record without the timestamp is not measured. */
  private val joins = Seq[(String, Seq[Long], Seq[Long])](
    ("inner", Seq(50, 0), Seq(7, 0)),
    ("left_outer", Seq(50, 0, 40060), Seq(7, 0)),
    ("right_outer", Seq(50, 0), Seq(7, 0, 40080)),
    ("full_outer", Seq(50, 0, 40060), Seq(7, 0, 40080)),
    ("left_semi", Seq(50, 0), Seq())
  )

  for ((kind, byLeft, byRight) <- joins)
    inEachMode(s"marks below and above a $kind join of two streams") { assertMode =>
      val (left, right) = (events, events)
      val joined = watermarkedEvents(left).withE2ELatency("left")
        .join(
          watermarkedEvents(right).withE2ELatency("right").toDF("k", "r"),
          expr("key = k AND r BETWEEN at - INTERVAL 1 SECOND AND at + INTERVAL 1 SECOND"),
          kind
        ).withE2ELatency("by left", "at")
      val hasRight = kind != "left_semi"
      val query = if (hasRight) joined.withE2ELatency("by right", "r") else joined
      val batches = Seq(
        batch(0)("a" -> -50, "b" -> -60),
        batch(0)("a" -> -7, "x" -> -80),
        batch(40000)("c" -> 40000),
        batch(40000)("c" -> 40000)
      )
      inBatches(query, batches)(alternating(left, right)) { query =>
        assertMode(query)
        assertAges("left", Seq(50, 60, 0), query)
        assertAges("right", Seq(7, 80, 0), query)
        for (
          (id, ages, other) <- Seq(("by left", byLeft, byRight), ("by right", byRight, byLeft)) if hasRight
        ) {
          val found = node(id, query)
          val unmatched = found.long("withoutTimestamp").get
          assert(unmatched === other.count(_ > 40000), id)
          assert(
            (found.records - unmatched, found.min, found.max, found.avg) ===
              ((ages.size.toLong, ages.minOption, ages.maxOption, Some(ages.sum.toDouble / ages.size))),
            id
          )
        }
        if (!hasRight) assertAges("by left", byLeft, query)
      }
    }

  inEachMode("a mark in a static side is counted in each batch, which reads it again") { assertMode =>
    val input = events
    val table = spark.range(
      1,
      4
    ).select(col("id"), lit("a").as("key"), timestamp_millis(lit(Start) - col("id")).as("made"))
    val joined = watermarkedEvents(input).join(
      table.withE2ELatency("static", "made"),
      "key"
    ).withE2ELatency("joined", "at")
    inBatches(joined, Seq(batch(0)("a" -> -10), batch(100)("a" -> 80)))((events, _) =>
      input.addData(events)
    ) { query =>
      assertMode(query)
      assertAges("static", Seq(1, 2, 3, 101, 102, 103), query)
      assertAges("joined", Seq.fill(3)(10L) ++ Seq.fill(3)(20L), query)
    }
  }

  inEachMode("marks between the operators of a chain: distinct, joined, counted in windows") { assertMode =>
    val (left, right) = (events, events)
    val distinct = watermarkedEvents(
      left
    ).withE2ELatency("source").dropDuplicatesWithinWatermark("key").withE2ELatency("distinct")
    val joined = distinct.join(
      watermarkedEvents(right).toDF("k", "r"),
      expr("key = k AND at = r")
    ).withE2ELatency("joined", "r")
    val windowed =
      joined.groupBy(window(col("at"), "1 second")).agg(max("at").as("at")).withE2ELatency("windowed", "at")
    val batches = Seq(
      batch(0)("a" -> -100, "a" -> -50, "b" -> -200),
      batch(0)("a" -> -100, "b" -> -200),
      batch(30000)("c" -> 30000),
      batch(30000)("c" -> 30000)
    )
    inBatches(windowed, batches)(alternating(left, right)) { query =>
      assertMode(query)
      assertAges("source", Seq(100, 50, 200, 0), query)
      assertAges("distinct", Seq(100, 200, 0), query)
      assertAges("joined", Seq(100, 200, 0), query)
      assertAges("windowed", Seq(30100), query)
    }
  }

  /** Each drops records that are older than the watermark. */
  private val dropping = Seq[(String, DataFrame => DataFrame)](
    "dropDuplicates" -> (_.dropDuplicates("key", "at")),
    "dropDuplicatesWithinWatermark" -> (_.dropDuplicatesWithinWatermark("key")),
    "a window aggregation" -> (_.groupBy(window(col("at"), "1 second")).agg(max("at").as("at"))),
    "a session window" -> (_.groupBy(
      col("key"),
      session_window(col("at"), "1 second")
    ).agg(max("at").as("at"))),
    "flatMapGroupsWithState" -> newest("flatMap")
  )

  for ((name, operator) <- dropping)
    inEachMode(s"a late record is counted below $name that drops it, and not above") { assertMode =>
      val input = events
      val marked = operator(watermarkedEvents(input).withE2ELatency("below")).withE2ELatency("above", "at")
      val batches = Seq(batch(0)("a" -> 0), batch(1)("late" -> -20000), batch(30000)("end" -> 30000))
      inBatches(marked, batches)((events, _) => input.addData(events)) { query =>
        assertMode(query)
        assertAges("below", Seq(0, 20001, 0), query)
        assertAges("above", if (name.startsWith("dropDuplicates")) Seq(0, 0) else Seq(30000), query)
      }
    }
}

/** The newest event of a key among those that came at once; the state is how many have come. */
private final class Newest extends StatefulProcessor[String, Event, Event] {
  @transient private var seen: ValueState[Long] = _

  override def init(mode: OutputMode, time: TimeMode): Unit =
    seen = getHandle.getValueState[Long]("seen", org.apache.spark.sql.Encoders.scalaLong, TTLConfig.NONE)

  override def handleInputRows(key: String, rows: Iterator[Event], timers: TimerValues): Iterator[Event] = {
    val all = rows.toSeq
    seen.update((if (seen.exists()) seen.get() else 0L) + all.size)
    Iterator(Newest.of(key, all))
  }
}

private object Newest {
  def of(key: String, events: Seq[Event]): Event = Event(key, events.map(_.at).maxBy(_.getTime))

  def map(key: String, rows: Iterator[Event], state: GroupState[Long]): Event = {
    val all = rows.toSeq
    state.update(state.getOption.getOrElse(0L) + all.size)
    of(key, all)
  }

  def flatMap(key: String, rows: Iterator[Event], state: GroupState[Long]): Iterator[Event] =
    if (state.hasTimedOut) {
      val newest = state.get
      state.remove()
      Iterator(Event(key, new java.sql.Timestamp(newest)))
    } else {
      val newest = rows.map(_.at.getTime).max
      state.update(state.getOption.fold(newest)(_.max(newest)))
      state.setTimeoutTimestamp(state.get)
      Iterator.empty
    }
}
