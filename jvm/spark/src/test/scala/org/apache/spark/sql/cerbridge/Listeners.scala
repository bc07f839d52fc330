package org.apache.spark.sql.cerbridge

import org.apache.spark.sql.SparkSession

object Listeners {

  /** Waits until the listeners of the session have got all events so far. */
  def waitForAll(spark: SparkSession): Unit = Sessions.session(spark).sparkContext.listenerBus.waitUntilEmpty()
}
