package io.sparklatency.spark

import java.net.InetSocketAddress
import java.net.URI
import java.net.http.HttpRequest
import java.net.http.HttpResponse.BodyHandlers

import com.sun.net.httpserver.HttpServer
import org.apache.spark.sql.latency.UiFaults

/** How one comes to the pages of the tab "Latency": through proxies, by which rights, and what there is when one is broken. */
class LatencyTabAccessSuite extends LatencyTabTest with Patient {
  test("links lead through a proxy that says where it stands") {
    withShop("proxied") { (run, _) =>
      val (_, page) = get("/latency/", "X-Forwarded-Context" -> "/proxy/app-1")
      assert(page.contains(s"""href="/proxy/app-1/latency/query/?id=$run""""))
    }
  }

  test("all links of all pages lead through spark.ui.proxyBase, and the proxy finds what they lead to") {
    withShop("behind_proxy", "a node?") { (run, _) =>
      withProxy("/proxy/app-1") { proxied =>
        val links = "(?:href|src|action)=\"([^\"]*)\"".r
        def linksOf(path: String) = {
          val (status, page) = proxied(path)
          assert(status === 200, path)
          links.findAllMatchIn(page).map(_.group(1).replace("&amp;", "&")).filter(_.startsWith("/")).toSet
        }
        val pages = Seq("/latency/", s"/latency/query/?id=$run", "/latency/query/?id=nobody")
        val found = pages.map(page => page -> linksOf(s"/proxy/app-1$page"))
        for ((page, links) <- found; link <- links) assert(link.startsWith("/proxy/app-1/"), s"on $page")
        val ours =
          found.flatMap(_._2).filter(_.contains("/latency/query/?id=")).map(_.takeWhile(_ != '#')).toSet
        assert(ours.count(_.contains("&node=")) === 2)
        assert(ours.exists(link => link.endsWith(run)))
        for (link <- ours) linksOf(link)
      }
    }
  }

  test("REST answers through a proxy that stands before the UI") {
    withShop("rest_behind_proxy") { (run, _) =>
      withProxy("/proxy/app-1") { proxied =>
        val application = s"/api/v1/applications/${spark.sparkContext.applicationId}/latency"
        for (
          path <- Seq("/api/v1/latency", application);
          resource <- Seq("", s"/queries/$run", s"/queries/$run/batches")
        )
          // A query that looks for data again and again may do so between the two.
          eventually {
            val answer = proxied(s"/proxy/app-1$path$resource")
            assert(answer === get(s"$path$resource"), path)
            assert(answer._1 === 200)
          }
      }
    }
  }

  /** A proxy that takes `base` from the paths that come to it, as YARN's and a Spark master's do, and the UI told of it. */
  private def withProxy(base: String)(check: (String => (Int, String)) => Unit): Unit = {
    val proxy = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0)
    proxy.createContext(
      s"$base/",
      exchange => {
        val asked = exchange.getRequestURI.toString
        val (status, page) = get(asked.substring(base.length))
        val bytes = page.getBytes("UTF-8")
        exchange.sendResponseHeaders(status, bytes.length.toLong)
        exchange.getResponseBody.write(bytes)
        exchange.close()
      }
    )
    proxy.start()
    System.setProperty("spark.ui.proxyBase", base)
    try check { path =>
        val uri = URI.create(s"http://127.0.0.1:${proxy.getAddress.getPort}$path")
        val response = http.send(HttpRequest.newBuilder(uri).build, BodyHandlers.ofString)
        (response.statusCode, response.body)
      }
    finally {
      System.clearProperty("spark.ui.proxyBase")
      proxy.stop(0)
    }
  }

  test("a page that cannot be made says so, logs it once, and the others are still there") {
    withShop("broken") { (run, _) =>
      val logged = Logged.during {
        UiFaults.withBrokenStore(spark.sparkContext)(for (_ <- 1 to 2) {
          val (status, page) = get("/latency/")
          assert(status === 200 && page.contains("This page could not be made"))
        })
      }
      assert(logged.count(_.contains("page /latency cannot be made")) === 1)
      assert(get(s"/latency/query/?id=$run")._2.contains("Latency of broken"))
    }
  }

  test("a page for which a class is missing says so") {
    UiFaults.withoutClass { port =>
      for (path <- Seq("/latency/", "/latency/query/?id=any")) {
        val (status, page) = getAt(port, path)
        assert(status === 200 && page.contains("This page could not be made"), path)
        assert(page.contains("org/apache/spark/Moved"), path)
      }
    }
  }

  test("a History Server for which a class is missing shows the application without the tab, and says so") {
    val logged = Logged.during(assert(!UiFaults.hasTabWithoutClass))
    assert(logged.exists(_.contains("The tab Latency is not shown")))
  }

  test("an application whose UI takes no tab goes on, and says so") {
    assert(Logged.during(UiFaults.attachToNothing()).exists(_.contains("The tab Latency is not shown")))
  }

  test("whoever may not see Spark's own pages may not see these") {
    val filters = UiFaults.filters(spark.sparkContext)
    assert(filters("/jobs") > 0)
    for (page <- Seq("/latency", "/latency/query", "/latency/json"))
      assert(filters(page) === filters("/jobs"), page)
  }
}
