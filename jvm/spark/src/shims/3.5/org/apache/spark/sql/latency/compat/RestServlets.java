package org.apache.spark.sql.latency.compat;

import javax.servlet.Servlet;
import javax.servlet.ServletException;
import org.apache.spark.ui.SparkUI;
import org.glassfish.jersey.servlet.ServletContainer;
import org.sparkproject.jetty.servlet.ServletContextHandler;
import org.sparkproject.jetty.servlet.ServletHolder;
import scala.collection.Iterator;

/** The servlets of Spark's REST API. In Java, for which Jetty has the name that it has in Spark's jars; for Scala it has another. */
final class RestServlets {
  private RestServlets() {}

  /** Lets the API look for its resources in this thread, a second time if it has looked; before it is started, in those of its own. */
  static void look(SparkUI ui, ClassLoader loader) throws ServletException {
    Iterator<ServletContextHandler> handlers = ui.getHandlers().iterator();
    while (handlers.hasNext()) {
      ServletContextHandler handler = handlers.next();
      if (!handler.getContextPath().equals("/api")) continue;
      if (!handler.isStarted()) handler.setClassLoader(loader);
      else for (ServletHolder holder : handler.getServletHandler().getServlets()) look(holder);
    }
  }

  private static void look(ServletHolder holder) throws ServletException {
    Servlet looked = holder.getServletInstance();
    if (looked instanceof ServletContainer) ((ServletContainer) looked).reload();
    else holder.getServlet();
  }
}
