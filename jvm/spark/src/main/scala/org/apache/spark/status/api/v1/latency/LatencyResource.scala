package org.apache.spark.status.api.v1.latency

import com.fasterxml.jackson.databind.JsonNode
import io.sparklatency.PrometheusText
import io.sparklatency.QuerySnapshot
import io.sparklatency.spark.LatencyJson
import jakarta.ws.rs.DefaultValue
import jakarta.ws.rs.GET
import jakarta.ws.rs.HeaderParam
import jakarta.ws.rs.Path
import jakarta.ws.rs.PathParam
import jakarta.ws.rs.Produces
import jakarta.ws.rs.QueryParam
import jakarta.ws.rs.core.MediaType
import jakarta.ws.rs.core.Response
import org.apache.spark.sql.latency.LatencyStore
import org.apache.spark.status.api.v1.BadParameterException
import org.apache.spark.status.api.v1.BaseAppResource
import org.apache.spark.status.api.v1.NotFoundException
import org.apache.spark.ui.SparkUI

/**
 * Figures over HTTP, beside Spark's own under `/api/v1/applications/[app-id]`. Spark finds the resources of this package, and
 * answers for whom it lets see the UI.
 */
@Produces(Array(MediaType.APPLICATION_JSON))
private[v1] abstract class LatencyResource extends BaseAppResource {

  /** All queries. */
  @GET
  def queries(): JsonNode = withUI { ui =>
    val store = LatencyStore.of(ui)
    LatencyJson.queries(store.queries, store.status)
  }

  /** One query, by its name or id (its newest run) or the id of a run. */
  @GET
  @Path("queries/{query}")
  def query(@PathParam("query") key: String): JsonNode = withUI { ui =>
    val store = LatencyStore.of(ui)
    LatencyJson.queries(Seq(find(store, key)), store.status)
  }

  /**
   * The last batches of that run, oldest first.
   *
   * @param limit a whole number; were it an Int, the answer to one that is not would be Spark's, which does not say so
   */
  @GET
  @Path("queries/{query}/batches")
  def batches(
      @PathParam("query") key: String,
      @QueryParam("limit") @DefaultValue("100") limit: String
  ): JsonNode = withUI { ui =>
    val batches = limit.toIntOption.filter(_ > 0).getOrElse(
      throw new BadParameterException(s"limit=$limit is not valid: a whole number from 1 is allowed")
    )
    val store = LatencyStore.of(ui)
    LatencyJson.history(store.history(find(store, key), batches))
  }

  /** The same for Prometheus to scrape. */
  @GET
  @Path("prometheus")
  @Produces(Array(MediaType.WILDCARD))
  def prometheus(@HeaderParam("Accept") accept: String): Response = withUI { ui =>
    val answer = PrometheusText(ui.appName, LatencyStore.of(ui).newestRuns, Option(accept))
    Response.ok(answer.text, answer.contentType).build()
  }

  private def find(store: LatencyStore, key: String): QuerySnapshot =
    store.query(key).getOrElse(throw new NotFoundException(LatencyJson.noFigures(key, store.queryNames)))
}

/** At an address that stays the same from one run of an application to the next: that of the driver whose UI this is. */
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

@Path("/v1/applications/{appId}/latency")
private[v1] class LatencyOfApplication extends LatencyResource

@Path("/v1/applications/{appId}/{attemptId}/latency")
private[v1] class LatencyOfAttempt extends LatencyResource
