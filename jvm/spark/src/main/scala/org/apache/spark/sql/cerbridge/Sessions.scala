package org.apache.spark.sql.cerbridge

import org.apache.spark.sql.{DataFrame, SparkSession}
import org.apache.spark.sql.classic.{SparkSession => ClassicSession}
import org.apache.spark.sql.streaming.StreamingQueryListener

/** Sessions and what belongs to them. */
object Sessions {
  def session(df: DataFrame): ClassicSession = session(df.sparkSession)
  def session(spark: SparkSession): ClassicSession = spark.asInstanceOf[ClassicSession]

  /** A session with the same settings, functions and temporary views, which can be changed independently. */
  def copy(spark: SparkSession): SparkSession = session(spark).cloneSession()

  /** Registers a listener of the session's streaming queries, once. */
  def listen(spark: SparkSession, listener: StreamingQueryListener): Unit = {
    val streams = session(spark).streams
    streams.synchronized(if (!streams.listListeners().contains(listener)) streams.addListener(listener))
  }

  /** How many tasks can run at once, if this machine runs them all. */
  def localSlots(spark: SparkSession): Option[Int] = {
    val context = session(spark).sparkContext
    if (context.isLocal) Some(context.maxNumConcurrentTasks(context.resourceProfileManager.defaultResourceProfile))
    else None
  }

  /** Compares two names as the session compares them. */
  def sameName(df: DataFrame): (String, String) => Boolean = sameName(df.sparkSession)
  def sameName(spark: SparkSession): (String, String) => Boolean = session(spark).sessionState.conf.resolver
}
