package org.apache.spark.sql.latency

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.plans.logical.Project
import org.apache.spark.sql.catalyst.plans.logical.UnresolvedHint
import org.apache.spark.sql.latency.compat.Dataset

/** What the server makes of a client's DataFrames under Spark Connect: each plan has a number, by which columns are asked for. */
object NumberedPlans {

  def numbered(df: DataFrame, number: Long): DataFrame = {
    for (plan <- Seq(plans(df).logical, plans(df).analyzed)) plan.setTagValue(LogicalPlan.PLAN_ID_TAG, number)
    df
  }

  def column(name: String, number: Long): UnresolvedAttribute = {
    val asked = UnresolvedAttribute(Seq(name))
    asked.setTagValue(LogicalPlan.PLAN_ID_TAG, number)
    asked
  }

  /** The column of `df` with a hint, asked for by the number of the hint. All is analyzed together. */
  def ofHinted(df: DataFrame, hint: String, parameters: Any*)(name: String): DataFrame = {
    val expressions = parameters.map {
      case expression: Expression => expression
      case text => Literal(text)
    }
    val hinted = UnresolvedHint(hint, expressions, plans(df).logical)
    hinted.setTagValue(LogicalPlan.PLAN_ID_TAG, Hinted)
    Dataset.ofRows(classic(df).sparkSession, Project(Seq(column(name, Hinted)), hinted))
  }

  private val Hinted = 100L
  private def plans(df: DataFrame) = classic(df).queryExecution
  private def classic(df: DataFrame) = df.asInstanceOf[Dataset[_]]
}
