package io.sparklatency.spark

import java.sql.Timestamp

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.ObjectMapper
import io.sparklatency.spark.Lines.MemoryStream
import io.sparklatency.spark.syntax._
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.Dataset
import org.apache.spark.sql.Encoder
import org.apache.spark.sql.Encoders
import org.apache.spark.sql.functions._
import org.scalatest.prop.TableDrivenPropertyChecks._

/** Ages by Kafka's timestamp at one node, and by a time within the record at the next: what lies between is no step's time. */
class TwoTimestampsSuite extends PagesTest {
  private implicit val message: Encoder[(Timestamp, String)] =
    Encoders.tuple(Encoders.TIMESTAMP, Encoders.STRING)

  /** Sent 5 ms ago, of what happened a minute before. */
  private val sent = (new Timestamp(Start - 5), s"""{"at": ${Start - 60005}, "until": ${Start - 30005}}""")

  private def named(records: Dataset[(Timestamp, String)]): DataFrame = records.toDF("timestamp", "value")

  private def messages: DataFrame = named(spark.createDataset(Seq(sent)))

  private val event = from_json(col("value"), lit("at LONG, until LONG"))
  private def at(field: String) = timestamp_millis(col(s"event.$field"))

  private def read(df: DataFrame): DataFrame = df.select(col("timestamp"), event.as("event"))

  /** Whether the second of two nodes is compared with the first one. */
  private def isCompared(
      first: DataFrame,
      one: String,
      between: DataFrame => DataFrame,
      other: String
  ): Boolean = {
    val (source, second) = (freshNode(), freshNode())
    run(between(first.withE2ELatency(source, expr(one))).withE2ELatency(second, expr(other)))
    assert(node(source).double("own").nonEmpty)
    assert(node(second).avg.nonEmpty, "it has an age")
    node(second).double("own").nonEmpty
  }

  test(
    "a node is compared with the one before it where both go by one timestamp, whatever became of its column"
  ) {
    val ways = Table[String, DataFrame => DataFrame, String](
      ("what becomes of it", "plan", "timestamp at the second node"),
      ("nothing", identity, "timestamp"),
      ("another name", _.select(col("timestamp").as("then")), "then"),
      ("a shuffle", _.repartition(2), "timestamp"),
      ("a window", _.groupBy(window(col("timestamp"), "1 second")).count(), "window.end"),
      (
        "a window that slides",
        _.groupBy(window(col("timestamp"), "9 seconds", "3 seconds")).count(),
        "window.end"
      ),
      ("its newest", _.groupBy("value").agg(max("timestamp").as("last")), "last"),
      ("its oldest", _.groupBy("value").agg(min("timestamp").as("first")), "first"),
      ("arithmetic", _.select((col("timestamp") + expr("INTERVAL 1 DAY")).as("then")), "then"),
      ("a default", _.select(coalesce(col("timestamp"), current_timestamp()).as("then")), "then"),
      ("a union", df => df.union(df.select(col("timestamp"), lit("")).repartition(2)), "timestamp"),
      ("a field of a struct", _.select(struct(col("timestamp").as("at")).as("event")), "event.at"),
      (
        "a function of the user's",
        df => df.select("timestamp").as[Timestamp].map(identity[Timestamp] _).toDF(),
        "value"
      )
    )
    forAll(ways)((_, plan, other) => assert(isCompared(messages, "timestamp", plan, other)))
    val millis = "timestamp_millis(event.at)"
    assert(isCompared(read(messages), millis, _.select(at("at").as("then")), "then"))
    val text = "timestamp_millis(CAST(get_json_object(value, '$.at') AS LONG))"
    assert(isCompared(messages, text, read, millis), "a text that is read in two ways")
    def renamed(df: DataFrame) = df.select(col("event").cast("STRUCT<then: LONG, until: LONG>"))
    assert(
      isCompared(read(messages), millis, renamed, "timestamp_millis(event.then)"),
      "a field of another name"
    )
    val cached = read(messages).cache()
    try assert(isCompared(cached, "timestamp", _.select(col("timestamp").as("then")), "then"))
    finally cached.unpersist()
  }

  test("a node that goes by another timestamp than the one before it is not compared") {
    val table = spark.createDataset(Seq(sent))
    val ways = Table[String, DataFrame => DataFrame, String](
      ("of what", "plan", "timestamp at the second node"),
      ("what the record holds", read, "timestamp_millis(event.at)"),
      ("a column of that", df => read(df).select(at("at").as("then")), "then"),
      ("a window of that", df => read(df).groupBy(window(at("at"), "1 second")).count(), "window.end"),
      ("the newest of that", df => read(df).groupBy("timestamp").agg(max(at("at")).as("last")), "last"),
      (
        "a window of that which slides",
        df => read(df).groupBy(window(at("at"), "9 seconds", "3 seconds")).count(),
        "window.end"
      ),
      (
        "a union of that",
        { df =>
          val one = read(df).select(at("at").as("then"))
          one.union(one.repartition(2))
        },
        "then"
      ),
      (
        "a field of another struct",
        df => read(df).select(struct(at("at").as("then"), lit(1).as("one")).as("of")),
        "of.then"
      ),
      ("a choice", df => read(df).select(when(col("timestamp").isNotNull, at("at")).as("then")), "then"),
      ("a table", df => df.crossJoin(broadcast(named(table).toDF("made", "of"))), "made"),
      ("the clock", _.withColumn("now", current_timestamp()), "now"),
      (
        "an explosion",
        { df =>
          val events = from_json(concat(lit("["), col("value"), lit("]")), lit("ARRAY<STRUCT<at: LONG>>"))
          df.select(explode(events).as("event")).select(at("at").as("then"))
        },
        "then"
      ),
      (
        "a function that gives on what it is given by name",
        { df =>
          val both = read(df).select(col("timestamp").as("_1"), at("at").as("_2"))
          both.as[(Timestamp, Timestamp)](Encoders.tuple(Encoders.TIMESTAMP, Encoders.TIMESTAMP))
            .map(identity[(Timestamp, Timestamp)] _)(Encoders.tuple(
              Encoders.TIMESTAMP,
              Encoders.TIMESTAMP
            )).toDF()
        },
        "_2"
      ),
      (
        "a union of which the other side does",
        { df =>
          val other = read(messages.withE2ELatency(freshNode(), "timestamp")).select(at("at").as("then"))
          df.select(col("timestamp").as("then")).union(other)
        },
        "then"
      ),
      (
        "a union of which one side does, and one does not",
        { df =>
          val other = read(messages.withE2ELatency(freshNode(), "timestamp")).select(at("at").as("then"))
          other.union(df.select(col("timestamp").as("then")))
        },
        "then"
      )
    )
    forAll(ways)((_, plan, other) => assert(!isCompared(messages, "timestamp", plan, other)))
    assert(!isCompared(
      read(messages),
      "timestamp_millis(event.at)",
      identity,
      "timestamp_millis(event.until)"
    ))
  }

  test("a timestamp that each of many steps reads twice is followed back at once") {
    def moved(df: DataFrame, step: Int): DataFrame = {
      val time = col("timestamp")
      val later = time + expr("INTERVAL 1 SECOND")
      df.select(when(unix_millis(time) % step === 0, time).otherwise(later).as("timestamp"))
    }
    // Where a column is looked at as often as it is read, there are 2 to the power of 40 ways, and the query does not begin.
    assert(isCompared(messages, "timestamp", df => (1 to 40).foldLeft(df)(moved), "timestamp"))
  }

  test("what lies between two timestamps is no time of a step, and a note says so on every surface") {
    val input = MemoryStream[(Timestamp, String)](spark)
    val parsed = read(named(input.toDS()).withE2ELatency("read", "timestamp")).select(at("at").as("at"))
      .withWatermark("at", "10 seconds").withE2ELatency("parsed", "at")
    val query = start(newestOf(parsed).withE2ELatency("sink", "last"), "two_timestamps", "update")
    try {
      input.addData(sent)
      processAll(query)
      val shown = queryOf("two_timestamps")
      val nodes = shown.get("nodes").elements.asScala.map(of => of.get("node").asText -> of).toMap
      assert(Seq("read", "parsed", "sink").map(nodes(_).get("avg").asDouble) === Seq(5, 60005, 60005))
      assert(Seq("read", "parsed", "sink").map(id => new ShownNode(nodes(id)).double("own")) ===
        Seq(Some(5.0), None, Some(0.0)))
      assert(nodes("parsed").get("share").isNull)
      assert(Seq("parsed", "sink").map(nodes(_).get("delays").fieldNames.asScala.toSeq) === Seq(
        Nil,
        Seq("parsed")
      ))
      assert(shown.at("/split/processing").isNull)
      val text =
        "parsed goes by at, and read before it by timestamp. These are two timestamps, so parsed has no own time: the difference " +
          "between the two belongs to no step."
      val notes =
        shown.get("notes").elements.asScala.filter(_.get("code").asText == "another-timestamp").toSeq
      assert(notes.map(note => (note.get("node").asText, note.get("text").asText)) === Seq("parsed" -> text))
      val (_, page) = get("/latency/query/?id=two_timestamps")
      assert(page.contains(text))
      assert(rows(table(
        page,
        "latency-nodes"
      )).map(row => row("Node") -> row("Own time")).toMap.get("parsed") === Some("–"))
      val unknown = Map("read" -> false, "parsed" -> true, "sink" -> false)
      val inSql = spark.sql("SELECT node, own FROM e2e_latency() WHERE query = 'two_timestamps'").collect()
      assert(inSql.map(row => row.getString(0) -> row.isNullAt(1)).toMap === unknown)
      val batches =
        new ObjectMapper().readTree(PythonApi.historyJson(spark, "two_timestamps", 9)).get("batches")
      val first =
        batches.elements.asScala.find(_.get("inputRows").asLong == 1).get.get("nodes").elements.asScala
      assert(
        first.map(of => of.get("node").asText -> of.get("own").isNull).toMap === unknown,
        "as its event has it"
      )
    } finally query.stop()
  }

  private def newestOf(df: DataFrame): DataFrame =
    df.groupBy(window(col("at"), "1 second")).agg(max("at").as("last"))
}
