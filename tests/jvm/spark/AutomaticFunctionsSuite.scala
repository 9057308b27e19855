package io.sparklatency.spark

import java.sql.Timestamp
import java.time.LocalDateTime

import io.sparklatency.spark.syntax._
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.Dataset
import org.apache.spark.sql.streaming.GroupState
import org.apache.spark.sql.streaming.GroupStateTimeout
import org.apache.spark.sql.streaming.OutputMode
import org.apache.spark.sql.streaming.TimeMode

/** Automatic nodes at and behind functions that Spark cannot look into. */
class AutomaticFunctionsSuite extends MatrixTest {
  import spark.implicits._

  private def byKey(df: DataFrame) = df.as[Event].groupByKey(_.key)

  private val once = Seq(batch(0)("a" -> -3, "a" -> -9, "b" -> -5), batch(10)("a" -> 0))

  /** Function, output mode, node, batches, ages that come in, ages that go out. */
  private val functions =
    Seq[(String, String, DataFrame => DataFrame, String, Seq[Batch], Seq[Long], Seq[Long])](
      (
        "mapGroupsWithState",
        "update",
        df => byKey(df).mapGroupsWithState(GroupStateTimeout.NoTimeout)(Newest.map _).toDF(),
        "flat-map-groups-with-state-1",
        once,
        Seq(3, 9, 5, 10),
        Seq(3, 5, 10)
      ),
      (
        "flatMapGroupsWithState",
        "append",
        df =>
          byKey(df).flatMapGroupsWithState(
            OutputMode.Append,
            GroupStateTimeout.EventTimeTimeout
          )(Newest.flatMap _).toDF(),
        "flat-map-groups-with-state-1",
        Seq(batch(0)("a" -> -3, "a" -> -9, "b" -> -5), batch(20000)("c" -> 20000)),
        Seq(3, 9, 5, 0),
        Seq(20003, 20005)
      ),
      (
        "transformWithState",
        "update",
        df => byKey(df).transformWithState(new Newest, TimeMode.None(), OutputMode.Update).toDF(),
        "transform-with-state-1",
        once,
        Seq(3, 9, 5, 10),
        Seq(3, 5, 10)
      ),
      (
        "transformWithState with a column of event time",
        "append",
        df => byKey(df).transformWithState(new Newest, "at", OutputMode.Append).toDF(),
        "transform-with-state-1",
        once,
        Seq(3, 9, 5, 10),
        Seq(3, 5, 10)
      )
    )

  for ((name, mode, function, operator, batches, in, out) <- functions)
    test(s"what leaves $name is as old as the timestamp that has the name of the one that went in") {
      withSettings(everything :+ rocksDb: _*) {
        val input = events
        inBatches(function(watermarkedEvents(input)), batches, mode)((events, _) => input.addData(events)) {
          query =>
            assert(nodesOf(query) === Seq("source-0-memory", operator, "sink"))
            assertAges("source-0-memory", in, query)
            for (id <- Seq(operator, "sink")) assertAges(id, out, query)
            val staleness = node(operator, query).measure("staleness").get
            assert((staleness.min, staleness.max) === ((in.minOption, in.maxOption)))
        }
      }
    }

  /** Each gives out one record for each that comes in. */
  private val others = Seq[(String, DataFrame => DataFrame)](
    "map" -> (_.as[Event].map(event => Event(event.key * 2, event.at)).toDF()),
    "mapPartitions, then map" -> (_.as[Event].mapPartitions(identity).map(identity[Event]).toDF()),
    "transformWithState with event time, then map" -> (df =>
      byKey(df).transformWithState(new Newest, "at", OutputMode.Append).map(identity[Event]).toDF()
    ),
    "map of a renamed column" -> (_.toDF("k", "at").as[(String, Timestamp)].map { case (k, at) =>
      Event(k, at)
    }.toDF())
  )

  for ((name, function) <- others)
    test(s"the end of a query is found behind $name") {
      withSettings("spark.sparklatency.auto" -> "terminal", rocksDb) {
        val input = events
        inBatches(function(watermarkedEvents(input)), Seq(batch(0)("a" -> -3, "b" -> -5)))((events, _) =>
          input.addData(events)
        )(query => assertAges("sink", Seq(3, 5), query))
      }
    }

  /** What leaves each is not known to be the timestamp that went in. */
  private val hiding = Seq[(String, DataFrame => DataFrame, String)](
    ("another name", _.as[Event].map(event => event.key -> event.at).toDF(), "'_1', '_2'"),
    (
      "another type",
      _.as[Event].map(event => LocalEvent(event.key, event.at.toLocalDateTime)).toDF(),
      "'key', 'at'"
    ),
    ("no timestamp", _.as[Event].map(event => Tuple1(event.key)).toDF(), "'_1'")
  )

  for ((what, function, columns) <- hiding)
    test(s"behind a function that gives out $what the end has no node, and the log says so") {
      withSettings(atEnds: _*) {
        val input = events
        val log = Logged.during {
          inBatches(function(watermarkedEvents(input)), Seq(batch(0)("a" -> -3)))((events, _) =>
            input.addData(events)
          )(query => assert(nodesOf(query) === Seq("source-0-memory")))
        }
        assert(log.count(
          _.endsWith(
            s"node 'sink' is left out: no column there is known to hold a record timestamp: $columns; a function (map, flatMap, mapGroups, …) " +
              "drops 'at': let it give out one of this name and type"
          )
        ) === 1)
      }
    }

  /** The newest event of each key in a batch. */
  private def newest(df: Dataset[Event]): Dataset[Event] =
    df.groupByKey(_.key).flatMapGroupsWithState(
      OutputMode.Append,
      GroupStateTimeout.NoTimeout
    )(NewestOfBatch.of _)

  private val toNewest = "flat-map-groups-with-state-1"

  /** Spark hands the objects of one function to the next: they become rows where those are shuffled. */
  private val followed = Seq[(String, Dataset[Event] => Dataset[Event], Seq[(String, Seq[Long], Seq[Long])])](
    (
      "two functions with state",
      df =>
        newest(df).groupByKey(_ => "all").transformWithState(new Newest, TimeMode.None(), OutputMode.Append),
      Seq(
        (toNewest, Seq(3, 9, 5, 10), Seq(3, 5, 10)),
        ("transform-with-state-1", Seq(3, 5, 10), Seq(3, 10))
      )
    ),
    (
      "a function with state behind a map",
      df => newest(df.map(event => Event(event.key * 2, event.at))),
      Seq((toNewest, Seq(3, 9, 5, 10), Seq(3, 5, 10)))
    ),
    (
      "a function with state behind a map, by a key with the name of the timestamp",
      df =>
        df.map(event => Event(event.key * 2, event.at))
          .groupByKey(event => Due(event.key, new Timestamp(event.at.getTime + 3600000)))
          .flatMapGroupsWithState(OutputMode.Append, GroupStateTimeout.NoTimeout)(NewestOfBatch.ofDue _),
      Seq((toNewest, Seq(3, 9, 5, 10), Seq(3, 9, 5, 10)))
    )
  )

  for ((what, function, operators) <- followed)
    test(s"$what: each has a node, with staleness and latency") {
      withSettings(everything :+ rocksDb: _*) {
        val input = events
        inBatches(function(watermarkedEvents(input).as[Event]).toDF(), once)((events, _) =>
          input.addData(events)
        ) { query =>
          assert(nodesOf(query) === "source-0-memory" +: operators.map(_._1) :+ "sink")
          for ((id, in, out) <- operators) {
            assertAges(id, out, query)
            val staleness = node(id, query).measure("staleness").get
            assert((staleness.min, staleness.max, staleness.avg) ===
              ((in.minOption, in.maxOption, Some(in.sum.toDouble / in.size))))
          }
          assertAges("sink", operators.last._3, query)
        }
      }
    }

  /** What each makes of the newest events, and how old those are that come to the end. */
  private val unmade = Seq[(String, Dataset[Event] => Dataset[Event], Seq[Long])](
    ("map", _.map(event => Event(event.key * 2, event.at)), Seq(3, 5, 10)),
    ("a filter by a function", _.filter(event => event.key == "a"), Seq(3, 10))
  )

  for ((what, function, out) <- unmade)
    test(
      s"of a function with state whose objects go on to $what there is staleness alone, and the log says so"
    ) {
      withSettings(everything: _*) {
        val input = events
        val log = Logged.during {
          inBatches(function(newest(watermarkedEvents(input).as[Event])).toDF(), once)((events, _) =>
            input.addData(events)
          ) { query =>
            val operator = node(toNewest, query)
            assert((operator.records, operator.measure("staleness").flatMap(_.avg)) === ((0, Some(6.75))))
            assertAges("sink", out, query)
          }
        }
        assert(log.count(_.endsWith(
          s"node '$toNewest' is left out: its objects go to the next function before they are rows, and ages are those of rows; " +
            "a node by hand right behind it makes rows of them"
        )) === 1)
      }
    }

  test("a node by hand right behind a function with state makes rows of its objects there") {
    withSettings(everything: _*) {
      val input = events
      val marked = newest(watermarkedEvents(input).as[Event]).withE2ELatency("newest", "at")
      val log = Logged.during {
        inBatches(marked.map(event => Event(event.key * 2, event.at)).toDF(), once)((events, _) =>
          input.addData(events)
        ) { query =>
          assert(nodesOf(query) === Seq("source-0-memory", "newest", "sink"))
          assertAges("newest", Seq(3, 5, 10), query)
          assert(node("newest", query).measure("staleness").flatMap(_.avg) === Some(6.75))
        }
      }
      assert(!log.exists(_.contains("left out")))
    }
  }

  test("a function with state that gives out no timestamp has staleness, and no records of its own") {
    withSettings(everything: _*) {
      val input = events
      def counted(df: DataFrame): DataFrame =
        byKey(df).mapGroupsWithState(GroupStateTimeout.NoTimeout)(Newest.map _).toDF().select("key")
      inBatches(counted(watermarkedEvents(input)), once, "update")((events, _) => input.addData(events)) {
        query =>
          val node = this.node("flat-map-groups-with-state-1", query)
          assert((node.records, node.measure("staleness").flatMap(_.max)) === ((0, Some(10))))
          assert(nodesOf(query) === Seq("source-0-memory", "flat-map-groups-with-state-1"))
      }
    }
  }
}

/** What happened to `key`, by the clock of a time zone that is not told. */
private final case class LocalEvent(key: String, at: LocalDateTime)

/** By when something has to be done with `key`. */
private final case class Due(key: String, at: Timestamp)

private object NewestOfBatch {
  def of(key: String, rows: Iterator[Event], state: GroupState[Long]): Iterator[Event] =
    Iterator(Newest.map(key, rows, state))

  def ofDue(due: Due, rows: Iterator[Event], state: GroupState[Long]): Iterator[Event] =
    of(due.key, rows, state)
}
