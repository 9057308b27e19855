package org.apache.spark.sql.latency.compat

/** JAX-RS, which is `jakarta.ws.rs` since Spark 4. Aliases, which cost nothing, and one call that differs. Any thread may use it. */
object rest {
  type DefaultValue = javax.ws.rs.DefaultValue
  type GET = javax.ws.rs.GET
  type HeaderParam = javax.ws.rs.HeaderParam
  type Path = javax.ws.rs.Path
  type PathParam = javax.ws.rs.PathParam
  type Produces = javax.ws.rs.Produces
  type QueryParam = javax.ws.rs.QueryParam
  type Response = javax.ws.rs.core.Response

  def ok(text: String, contentType: String): Response =
    javax.ws.rs.core.Response.ok(text, contentType).build()
}
