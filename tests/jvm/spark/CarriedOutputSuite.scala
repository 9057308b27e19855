package io.sparklatency.spark

import java.nio.file.Files
import java.nio.file.Path

import scala.jdk.CollectionConverters._
import scala.util.Using

import io.sparklatency.spark.WrittenFiles.Written
import org.apache.hadoop.conf.Configuration
import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.hadoop.util.HadoopInputFile

/**
 * What queries write that drop their timestamp: the same with automatic nodes, though it is carried to the end then. In formats whose
 * files have a schema, which would have one column more, or one that may be null.
 */
class CarriedOutputSuite extends WrittenFiles {
  for ((name, mode, plan) <- plans if carries.contains(name); format <- Seq("parquet", "orc"))
    test(
      s"what is written as $format is the same, byte for byte, where a timestamp is carried to the end: $name"
    ) {
      val plain = write(plan(), mode, format)
      assert(plain.marks === 0 && findNode("sink", plain.name).isEmpty)
      withSettings(atEnds: _*) {
        val automatic = write(plan(), mode, format)
        assert(node("sink", automatic.name).max.nonEmpty, "a timestamp has come to the end")
        assert(rows(automatic, format) === rows(plain, format))
        assert(rows(plain, format).nonEmpty)
        if (plain.hasOrder) assert(automatic.parts === plain.parts)
        if (format == "parquet") assert(footers(automatic) === footers(plain))
      }
    }

  private def rows(written: Written, format: String): Seq[String] =
    spark.read.format(format).load(written.folder.toString).collect().map(_.toString).toSeq.sorted

  /** What each file says of its columns, with all that Spark and Parquet have written beside them. */
  private def footers(written: Written): Set[String] = Using.resource(Files.walk(written.folder)) { files =>
    files.iterator.asScala.filter(_.getFileName.toString.startsWith("part-")).map(footer).toSet
  }

  private def footer(file: Path): String = {
    val there = HadoopInputFile.fromPath(new org.apache.hadoop.fs.Path(file.toUri), new Configuration)
    Using.resource(ParquetFileReader.open(there)) { reader =>
      val of = reader.getFooter.getFileMetaData
      s"${of.getSchema}\n${of.getKeyValueMetaData.asScala.toSeq.sorted.mkString("\n")}\n${of.getCreatedBy}"
    }
  }
}
