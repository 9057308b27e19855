package io.sparklatency.spark

import java.sql.Timestamp
import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._
import scala.util.Random

import io.sparklatency.spark.Lines.MemoryStream
import io.sparklatency.spark.syntax._
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions._
import org.apache.spark.sql.streaming.GroupStateTimeout
import org.apache.spark.sql.streaming.OutputMode

/**
 * With LO the latency of a record at a source, LA at an operator and L at the end: LO ≤ LA ≤ L, in any pipeline.
 *
 * Pipelines, records and the time between batches are random. `SEED=…` in the environment runs again what a test's name tells.
 * An observer on either side of each mark notes every record and the clock. It knows nothing of marks.
 */
class LatencyBoundsSuite extends MatrixTest {
  import LatencyBoundsSuite._

  private val seeds =
    sys.env.get("SEED").map(_.toLong).fold(
      Seq.fill(if (sample.isFull) 40 else 3)(Random.nextInt(1000000).toLong)
    )(Seq(_))

  /** A step, and whether each record that it takes in comes out once, in the same batch. */
  private type Step = (String, Boolean, DataFrame => DataFrame)

  private def stateless(random: Random): Step = random.nextInt(6) match {
    case 0 =>
      val ms = random.nextInt(20).toLong
      (s"work of $ms ms", true, work(ms))
    case 1 =>
      val partitions = 1 + random.nextInt(3)
      (s"repartition($partitions)", true, _.repartition(partitions))
    case 2 => ("repartition by key", true, _.repartition(2, col("key")))
    case 3 => ("projection", true, df => df.select(col("at"), upper(col("key")).as("key")))
    case 4 => ("filter", false, _.filter("key <> 'b'"))
    case 5 => ("explode", false, _.withColumn("n", explode(array(lit(1), lit(2)))).drop("n"))
  }

  private def work(ms: Long)(df: DataFrame): DataFrame =
    df.withColumn("done", slow(ms)(unix_millis(col("at")))).filter("done IS NOT NULL").drop("done")

  /** Steps that keep the watermarked column and so may stand below another step with state. */
  private def deduplication(random: Random): Step = random.nextInt(2) match {
    case 0 => ("dropDuplicates", false, _.dropDuplicates("key", "at"))
    case 1 => ("dropDuplicatesWithinWatermark", false, _.dropDuplicatesWithinWatermark("key"))
  }

  /** What comes out is as old as one of the records that came in; with the input that the join has beside. */
  private def stateful(random: Random, other: MemoryStream[Event]): Step = random.nextInt(5) match {
    case 0 => deduplication(random)
    case 1 => (
        "windows",
        false,
        _.groupBy(window(col("at"), "2 seconds"), col("key")).agg(max("at").as("at")).select("key", "at")
      )
    case 2 => (
        "session windows",
        false,
        _.groupBy(
          session_window(col("at"), "1 second"),
          col("key")
        ).agg(max("at").as("at")).select("key", "at")
      )
    case 3 => ("flatMapGroupsWithState", false, held)
    case 4 => (
        "a join of two streams",
        false,
        _.join(
          watermarkedEvents(other).toDF("k", "r"),
          expr("key = k AND r BETWEEN at - INTERVAL 2 SECONDS AND at + INTERVAL 2 SECONDS"),
          if (random.nextBoolean()) "inner" else "left_outer"
        ).select("key", "at")
      )
  }

  private def held(df: DataFrame): DataFrame =
    df.as[Event].groupByKey(_.key)(org.apache.spark.sql.Encoders.STRING)
      .flatMapGroupsWithState(OutputMode.Append, GroupStateTimeout.EventTimeTimeout)(Newest.flatMap _)(
        org.apache.spark.sql.Encoders.scalaLong,
        eventEncoder
      ).toDF()

  private def randomSteps(random: Random, other: MemoryStream[Event]): Seq[Step] = {
    def some(most: Int) = Seq.fill(random.nextInt(most + 1))(stateless(random))
    // Spark lets steps with state follow one another where the first keeps the watermarked column.
    val first = if (random.nextBoolean()) deduplication(random) +: some(1) else Nil
    some(2) ++ first ++ some(1) ++ (stateful(random, other) +: some(2))
  }

  for (seed <- seeds)
    test(s"no record grows younger on its way through a random pipeline with state, SEED=$seed") {
      val random = new Random(seed)
      val (input, other) = (events, events)
      val steps = randomSteps(random, other)
      val ids = (0 to steps.size).map(_.toString)
      def marked(df: DataFrame, id: String) =
        observed(observed(df, s"$seed below $id").withE2ELatency(id, "at"), s"$seed above $id")
      val pipe = steps.zip(ids.tail).foldLeft(marked(watermarkedEvents(input), ids.head)) {
        case (df, ((_, _, step), id)) => marked(step(df), id)
      }
      withClue(s"steps: ${steps.map(_._1).mkString(" → ")}\n") {
        val name = freshNode()
        val query = start(pipe, name)
        try {
          for ((batch, i) <- batches(random).zipWithIndex) {
            // Work has moved the clock on. Were it set back, the gauges would drop what lies in its future.
            clock.set(clock.millis().max(Start + batch.now))
            (if (i % 2 == 0) input else other).addData(batch.events)
            processAll(query)
          }
          check(seed, ids, steps.map(_._2), name)
        } finally query.stop()
      }
    }

  /**
   * By turns for the two inputs; the last ones are so late that everything that state holds comes out. All lie within the
   * window of the gauges.
   */
  private def batches(random: Random): Seq[Batch] = {
    val times = (1 to 6).scanLeft(0L)((now, _) => now + random.nextInt(1500))
    val some = times.map { now =>
      batch(now)(Seq.fill(1 + random.nextInt(8))(random.shuffle(Seq(
        "a",
        "b",
        "c"
      )).head -> (now - random.nextInt(4000))): _*)
    }
    val end = times.last + 25000
    some ++ Seq.fill(4 - some.size % 2)(batch(end)("end" -> end))
  }

  private def check(seed: Long, ids: Seq[String], keeps: Seq[Boolean], query: String): Unit = {
    val seen = ids.map(id => id -> (seenAt(s"$seed below $id"), seenAt(s"$seed above $id"))).toMap
    for (id <- ids) {
      val ((below, above), figures) = (seen(id), node(id, query))
      assert(below.map(_._1).sorted === above.map(_._1).sorted, s"at $id the observers saw other records")
      assert(figures.records === below.size.toLong, s"records at $id")
      // The clock goes on between observer and mark where another task works.
      for (
        (name, of) <- Seq[(String, Seq[Long] => Option[Double])](
          "min" -> (_.minOption.map(_.toDouble)),
          "max" -> (_.maxOption.map(_.toDouble)),
          "avg" -> (ages => Option.when(ages.nonEmpty)(ages.sum.toDouble / ages.size))
        )
      ) {
        val told = figures.double(name)
        val bounds = (of(below.map(_._2)), of(above.map(_._2)))
        val within = (bounds._1, told, bounds._2) match {
          case (Some(low), Some(it), Some(high)) => low - 1e-6 <= it && it <= high + 1e-6
          case other => other == ((None, None, None))
        }
        assert(within, s"$name at $id is $told, and the observers saw $bounds")
      }
    }
    for (((up, down), isKept) <- ids.zip(ids.tail).zip(keeps)) {
      val youngest = seen(up)._2.groupMapReduce(_._1)(_._2)(_ min _)
      for ((at, age) <- seen(down)._1)
        assert(
          youngest.get(at).exists(_ <= age),
          s"a record of $at is $age ms old at $down, at $up it was ${youngest.get(at)}"
        )
      val (above, below) = (node(up, query), node(down, query))
      for (earlier <- above.min; later <- below.min) assert(earlier <= later, s"min at $up and $down")
      if (isKept) {
        assert(above.records === below.records, s"records at $up and $down")
        for (figure <- Seq("p50", "p99", "max", "avg"); earlier <- above.double(figure))
          assert(earlier <= below.double(figure).get, s"$figure at $up and $down")
      }
    }
  }
}

object LatencyBoundsSuite {
  private val seen = new ConcurrentLinkedQueue[(String, Long, Long)]

  /** The same rows; each is noted with its timestamp and its age as it passes. A task of a local session reads the test's clock. */
  private def observed(df: DataFrame, place: String): DataFrame = {
    val note = udf { (at: Timestamp) =>
      seen.add((place, at.getTime, SparkTest.clock.millis() - at.getTime))
    }
    df.filter(note.asNondeterministic()(col("at")))
  }

  private def seenAt(place: String): Seq[(Long, Long)] =
    seen.asScala.toSeq.collect { case (`place`, at, age) => (at, age) }
}
