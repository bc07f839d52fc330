package org.apache.spark.sql.cerbridge

import org.apache.spark.sql.{DataFrame, Row, SparkSession}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic.{Dataset => ClassicDataset}
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.types.StructType

/** DataFrames and their plans. */
object Plans {
  def planOf(df: DataFrame): LogicalPlan = df.queryExecution.analyzed

  /** A plan as a DataFrame of the active session, or of another one. */
  def dataFrame(plan: LogicalPlan): DataFrame = dataFrame(SparkSession.active, plan)
  def dataFrame(session: SparkSession, plan: LogicalPlan): DataFrame =
    ClassicDataset.ofRows(Sessions.session(session), plan)

  /** The same DataFrame, not yet executed, with the files that there are now. */
  def again(df: DataFrame): DataFrame = {
    planOf(df).foreach {
      case r: LogicalRelation =>
        r.relation match {
          case files: HadoopFsRelation => files.location.refresh()
          case _                       => ()
        }
      case _ => ()
    }
    dataFrame(df.sparkSession, planOf(df))
  }

  /** A DataFrame with these columns and no rows. The optimizer cannot see that it has none. */
  def empty(df: DataFrame, schema: StructType): DataFrame = {
    val session = Sessions.session(df)
    session.createDataFrame(session.sparkContext.emptyRDD[Row], schema)
  }

  /** The same columns, each of which may be NULL, at any depth. */
  def nullable(schema: StructType): StructType = schema.asNullable
}
