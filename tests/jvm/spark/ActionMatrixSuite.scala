package io.sparklatency.spark

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.Dataset
import org.apache.spark.sql.Row
import org.apache.spark.sql.SaveMode.Overwrite
import org.apache.spark.sql.latency.ListenerBus
import org.apache.spark.sql.latency.TemporaryFolder
import org.apache.spark.storage.StorageLevel

/** One marked DataFrame under each action that Spark has. */
class ActionMatrixSuite extends MatrixTest {

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    spark.sql(s"CREATE DATABASE actions LOCATION '${folder()}'")
    spark.sparkContext.setCheckpointDir(folder())
    spark.sql("CREATE TABLE actions.inserted (id LONG, key LONG, ts TIMESTAMP) USING parquet")
    ()
  }

  override protected def afterAll(): Unit = {
    spark.sql("DROP DATABASE actions CASCADE")
    super.afterAll()
  }

  private def folder(): String = TemporaryFolder("actions").toString

  private def sql(statement: String)(df: DataFrame): Any = {
    df.createOrReplaceTempView("actions_marked")
    spark.sql(statement)
  }

  /** Each reads every row of the plan once, whatever it does with it. */
  private val actions = Seq[(String, DataFrame => Any)](
    "parquet" -> (_.write.mode(Overwrite).parquet(folder())),
    "json" -> (_.write.mode(Overwrite).json(folder())),
    "csv" -> (_.write.mode(Overwrite).csv(folder())),
    "noop" -> (_.write.format("noop").mode(Overwrite).save()),
    "a writer that is handed the plan" -> (_.write.format(classOf[HandedPlans].getName).save()),
    "partitionBy" -> (_.write.partitionBy("key").mode(Overwrite).parquet(folder())),
    "saveAsTable" -> (_.write.mode(Overwrite).saveAsTable("actions.saved")),
    "bucketBy and sortBy" -> (_.write.bucketBy(
      3,
      "key"
    ).sortBy("id").mode(Overwrite).saveAsTable("actions.bucketed")),
    "partitionBy, bucketBy and sortBy" ->
      (_.write.partitionBy("key").bucketBy(2, "id").sortBy("ts").mode(Overwrite).saveAsTable("actions.both")),
    "insertInto" -> (_.write.insertInto("actions.inserted")),
    "CREATE TABLE AS SELECT" -> sql(
      "CREATE TABLE actions.ctas USING parquet AS SELECT * FROM actions_marked"
    ) _,
    "INSERT OVERWRITE" -> sql("INSERT OVERWRITE actions.inserted SELECT * FROM actions_marked") _,
    "INSERT OVERWRITE DIRECTORY" -> (df =>
      sql(s"INSERT OVERWRITE DIRECTORY '${folder()}' USING json SELECT * FROM actions_marked")(df)
    ),
    "count" -> (_.count()),
    "collect" -> (_.collect()),
    "toJSON" -> (_.toJSON.collect()),
    "reduce" -> (df => df.select("id").as[Long](org.apache.spark.sql.Encoders.scalaLong).reduce(_ + _)),
    "foreach" -> (_.foreach((_: Row) => ())),
    "foreachPartition" -> (_.foreachPartition((rows: Iterator[Row]) => rows.foreach(_ => ()))),
    "localCheckpoint" -> (_.localCheckpoint().collect()),
    "checkpoint" -> (_.checkpoint().collect()),
    "summary" -> (_.summary("count", "max").collect())
  )

  for (((name, action), (mode, settings)) <- sample.of(actions, modes.take(2)))
    test(s"$name counts each row once, $mode") {
      withSettings(settings: _*) {
        val id = freshNode()
        spark.sql("DROP TABLE IF EXISTS actions.ctas")
        action(mark(rows(100), id))
        ListenerBus.awaitEmpty(spark.sparkContext)
        assertAges(id, ages(1 to 100))
      }
    }

  for (level <- Seq(StorageLevel.MEMORY_ONLY, StorageLevel.DISK_ONLY))
    test(s"a DataFrame persisted with ${level.description} and read by two actions counts once") {
      val (below, above) = (freshNode(), freshNode())
      val persisted = mark(rows(10), below).persist(level)
      try {
        run(mark(persisted, above).filter("id > 5"))
        assert(persisted.filter("id > 5").count() === 5)
        assertAges(below, ages(1 to 10))
        assertAges(above, ages(1 to 10))
      } finally persisted.unpersist()
    }

  /** What runs outside Spark's SQL executions: the driver does not show it. */
  private val outside = Seq[(String, Dataset[_] => Any, Any)](
    ("rdd.count", df => ended(df.rdd).count(), 10),
    (
      "toLocalIterator",
      df => { var n = 0; ended(df.toLocalIterator()).forEachRemaining(_ => n += 1); n },
      10
    ),
    ("a localCheckpoint that is lazy", df => ended(df.localCheckpoint(eager = false)).collect().length, 10),
    (
      "a part of toLocalIterator",
      df => { val rows = ended(df.toLocalIterator()); rows.next(); rows.hasNext },
      true
    )
  )

  /** The execution that made this has ended before its tasks begin. Told later, it would take what they have done by then. */
  private def ended[A](made: A): A = {
    ListenerBus.awaitEmpty(spark.sparkContext)
    made
  }

  for ((name, action, result) <- outside)
    test(s"$name is not shown, and disturbs no later action") {
      val id = freshNode()
      val marked = mark(rows(10), id)
      assert(action(marked) === result)
      assert(findNode(id).forall(_.records == 0))
      assert(marked.collect().length === 10)
      assertAges(id, ages(1 to 10))
      assert(action(marked) === result)
      assertAges(id, ages(1 to 10))
    }

  /** Rows stand in four partitions of twenty-five. */
  private val parts = Seq[(String, DataFrame => Any, Seq[Long])](
    ("head, which reads partitions until it has enough", _.head(30), ages(1 to 50)),
    ("tail, which reads them from the last", _.tail(10), ages(76 to 100)),
    ("isEmpty, which reads a row of each", _.isEmpty, Seq(1, 26, 51, 76))
  )

  for ((name, action, read) <- parts)
    test(s"$name, counts what it read") {
      val id = freshNode()
      action(mark(rows(100), id))
      assertAges(id, read)
    }

  test(
    "a persisted DataFrame of which the first action fills a part counts the rest when the next one fills it"
  ) {
    val id = freshNode()
    val persisted = mark(rows(100), id).persist()
    try {
      persisted.head(1)
      assertAges(id, ages(1 to 25))
      persisted.count()
      assertAges(id, ages(1 to 100))
    } finally persisted.unpersist()
  }

  test("what is cached counts once, also where it is lost and computed anew") {
    val id = freshNode()
    val persisted = mark(rows(100), id).persist()
    try {
      persisted.count()
      spark.sparkContext.getPersistentRDDs.values.foreach(_.unpersist(blocking = true))
      assert(persisted.filter("id >= 0").count() === 100)
      assertAges(id, ages(1 to 100))
    } finally persisted.unpersist()
  }

  test("CACHE TABLE counts once, and reading the table counts nothing") {
    val id = freshNode()
    mark(rows(10), id).createOrReplaceTempView("actions_source")
    spark.sql("CACHE TABLE actions_cached AS SELECT * FROM actions_source")
    try {
      assertAges(id, ages(1 to 10))
      spark.table("actions_cached").filter("id > 3").collect()
      assertAges(id, ages(1 to 10))
    } finally spark.sql("UNCACHE TABLE actions_cached")
  }
}
