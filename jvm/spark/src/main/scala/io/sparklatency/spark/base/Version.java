package io.sparklatency.spark.base;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Properties;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Which release this is, and for which Spark its jar was built. It is in Java so that a jar for another Scala can still say that it is one.
 * Reads one small file of the jar, once in a process. Any thread may ask.
 */
public final class Version {
  private static final Properties BUILD = load();
  private static final Pattern LINE = Pattern.compile("\\d+\\.\\d+");

  private Version() {}

  public static String current() {
    return BUILD.getProperty("version");
  }

  /** Such as 4.2. */
  public static String sparkLine() {
    return BUILD.getProperty("spark");
  }

  /**
   * Refuses a jar that was made for another line of Spark or of Scala, before one of them misses a class of the other.
   *
   * @throws IllegalStateException naming the jar that would fit
   */
  public static void requireFit() {
    requireFit(org.apache.spark.package$.MODULE$.SPARK_VERSION(), scala.util.Properties.versionNumberString());
  }

  /** The same for a Spark that is not the one at hand. */
  static void requireFit(String spark, String scala) {
    String jar = name(sparkLine(), BUILD.getProperty("scala"));
    String fitting = name(line(spark), line(scala));
    if (!jar.equals(fitting)) {
      throw new IllegalStateException(
          jar + " is not for this Spark, which is " + spark + " with Scala " + scala + ". Take " + fitting
              + ", if there is one: the README of sparklatency lists the versions.");
    }
  }

  private static String name(String spark, String scala) {
    return "sparklatency-spark_" + spark + "_" + scala;
  }

  private static String line(String version) {
    Matcher found = LINE.matcher(version);
    return found.lookingAt() ? found.group() : version;
  }

  private static Properties load() {
    Properties loaded = new Properties();
    try (InputStream file = Version.class.getResourceAsStream("/io/sparklatency/build.properties")) {
      loaded.load(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return loaded;
  }
}
