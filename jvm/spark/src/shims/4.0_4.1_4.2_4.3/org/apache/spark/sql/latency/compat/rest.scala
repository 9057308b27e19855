package org.apache.spark.sql.latency.compat

/**
 * JAX-RS, which was `javax.ws.rs` before Spark 4. Aliases, which cost nothing, and one call that differs. Any thread may use
 * it.
 */
object rest {
  type DefaultValue = jakarta.ws.rs.DefaultValue
  type GET = jakarta.ws.rs.GET
  type HeaderParam = jakarta.ws.rs.HeaderParam
  type Path = jakarta.ws.rs.Path
  type PathParam = jakarta.ws.rs.PathParam
  type Produces = jakarta.ws.rs.Produces
  type QueryParam = jakarta.ws.rs.QueryParam
  type Response = jakarta.ws.rs.core.Response

  def ok(text: String, contentType: String): Response =
    jakarta.ws.rs.core.Response.ok(text, contentType).build()
}
