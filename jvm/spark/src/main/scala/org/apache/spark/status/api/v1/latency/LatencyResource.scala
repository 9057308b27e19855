package org.apache.spark.status.api.v1.latency

import com.fasterxml.jackson.databind.JsonNode
import io.sparklatency.answer.NoFigures
import io.sparklatency.answer.Readable
import io.sparklatency.exposition.PrometheusText
import io.sparklatency.figures.QuerySnapshot
import io.sparklatency.spark.LatencyJson
import org.apache.spark.sql.latency.application.LatencyApplication
import org.apache.spark.sql.latency.compat.rest
import org.apache.spark.sql.latency.compat.rest.DefaultValue
import org.apache.spark.sql.latency.compat.rest.GET
import org.apache.spark.sql.latency.compat.rest.HeaderParam
import org.apache.spark.sql.latency.compat.rest.Path
import org.apache.spark.sql.latency.compat.rest.PathParam
import org.apache.spark.sql.latency.compat.rest.Produces
import org.apache.spark.sql.latency.compat.rest.QueryParam
import org.apache.spark.sql.latency.compat.rest.Response
import org.apache.spark.sql.latency.history.LatencyStore
import org.apache.spark.status.api.v1.BadParameterException
import org.apache.spark.status.api.v1.BaseAppResource
import org.apache.spark.status.api.v1.NotFoundException
import org.apache.spark.status.api.v1.ServiceUnavailable
import org.apache.spark.ui.SparkUI

/**
 * Figures over HTTP, beside Spark's own under `/api/v1/applications/[app-id]`. Spark finds the resources of this package by
 * itself, and lets only those ask who may see the UI.
 *
 * It only reads. A request costs one reading of the store; that of batches also one of each batch it gives. Jersey makes a
 * resource for each request, and runs it on a thread of Spark's web server.
 */
@Produces(Array("application/json"))
private[v1] abstract class LatencyResource extends BaseAppResource {

  /** All queries, the newest run of each, and a list of the earlier runs. */
  @GET
  def queries(): JsonNode = withStore((_, store) => LatencyJson.all(store))

  /** One query, by its name or id (its newest run) or the id of a run. */
  @GET
  @Path("queries/{query}")
  def query(@PathParam("query") key: String): JsonNode =
    withStore((_, store) => LatencyJson.one(store.answer(find(store, key))))

  /**
   * The last batches of that run, oldest first.
   *
   * @param limit a whole number. It is a String here: were it an Int, Spark would answer a bad one itself, without saying
   *              what is wrong
   */
  @GET
  @Path("queries/{query}/batches")
  def batches(
      @PathParam("query") key: String,
      @QueryParam("limit") @DefaultValue("100") limit: String
  ): JsonNode = withStore { (_, store) =>
    // No history is as long as an Int can tell.
    val asked = Option.when(limit.matches("[0-9]+"))(BigInt(limit)).filter(_ > 0)
    val batches = asked.map(_.min(Int.MaxValue).toInt).getOrElse(
      throw new BadParameterException(s"limit=$limit is not valid: a whole number from 1 is allowed")
    )
    LatencyJson.history(store.history(find(store, key), batches))
  }

  /** What a node did in each partition of the last batch that had records: the slowest, and how many there are. */
  @GET
  @Path("queries/{query}/operators/{node}/partitions")
  def partitions(@PathParam("query") key: String, @PathParam("node") node: String): JsonNode =
    partitionsOf(key, node)

  /** The same of any node: a path takes no id with a slash, a backslash, a semicolon or a percent sign. */
  @GET
  @Path("queries/{query}/operators/partitions")
  def partitionsOf(@PathParam("query") key: String, @QueryParam("node") node: String): JsonNode = withStore {
    (_, store) =>
      if (node == null) throw new BadParameterException("the parameter node is missing: the id of a node")
      val answer = store.answer(find(store, key))
      if (!answer.query.nodes.exists(_.id == node))
        throw new NotFoundException(s"the query has no node '${Readable.name(node)}'")
      LatencyJson.partitions(answer, node)
  }

  /** The same for Prometheus to scrape. */
  @GET
  @Path("prometheus")
  @Produces(Array("*/*"))
  def prometheus(@HeaderParam("Accept") accept: String): Response = withStore { (ui, store) =>
    val answers = store.queries.map(store.answer)
    val answer = PrometheusText(ui.appName, answers, Option(accept), store.clocks, store.nowMs)
    rest.ok(answer.text, answer.contentType)
  }

  /** A bad setting, of which a driver without the plugin may have told in its log alone, is the answer to all questions. */
  private def withStore[T](read: (SparkUI, LatencyStore) => T): T = withUI { ui =>
    val store =
      try LatencyApplication.storeOf(ui)
      catch { case bad: IllegalArgumentException => throw new ServiceUnavailable(bad.getMessage) }
    read(ui, store)
  }

  private def find(store: LatencyStore, key: String): QuerySnapshot =
    store.query(key).getOrElse(throw new NotFoundException(NoFigures.of(key, store.queryNames)))
}

/**
 * The figures of the driver whose UI this is, at an address that stays the same from one run of an application to the next. A
 * History Server has no such application and answers 404. Costs and threads are those of [[LatencyResource]].
 */
@Path("/v1/latency")
private[v1] class LatencyOfDriver extends LatencyResource {
  override def withUI[T](read: SparkUI => T): T = uiRoot match {
    case driver: SparkUI =>
      appId = driver.appId
      super.withUI(read)
    case _ => throw new NotFoundException(
        "this is no driver: ask for an application, at applications/[app-id]/latency"
      )
  }
}

/** The figures of one application, on a driver and in a History Server. Costs and threads are those of [[LatencyResource]]. */
@Path("/v1/applications/{appId}/latency")
private[v1] class LatencyOfApplication extends LatencyResource

/** The same for one attempt at an application, as YARN makes several. */
@Path("/v1/applications/{appId}/{attemptId}/latency")
private[v1] class LatencyOfAttempt extends LatencyResource
