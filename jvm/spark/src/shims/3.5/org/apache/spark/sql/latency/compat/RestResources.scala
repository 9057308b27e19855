package org.apache.spark.sql.latency.compat

import io.sparklatency.spark.base.OurFailure
import org.apache.spark.internal.Logging
import org.apache.spark.ui.SparkUI
import org.apache.spark.util.Utils

/**
 * Lets Spark's REST API find our resource. It looks for resources at the first request, in a thread of Jetty. Those of Jetty 9
 * see no jar that came by `--jars`.
 */
object RestResources extends Logging {

  /**
   * Called when the tab is attached: by the plugin before the API is started, by the first mark when it has been. Then it looks for
   * resources here, which takes about as long as it takes at the first request.
   */
  def find(ui: SparkUI): Unit = {
    val loader = getClass.getClassLoader
    try Utils.withContextClassLoader(loader)(RestServlets.look(ui, loader))
    catch { case OurFailure(e) => logWarning("Figures cannot be read by REST.", e) }
  }
}
