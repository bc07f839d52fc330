package org.apache.spark.sql.cerbridge

import org.apache.spark.util.Utils

object Copies {

  /** A copy of an object that has the classes of a loader. */
  def of(one: AnyRef, loader: ClassLoader): AnyRef = Utils.deserialize[AnyRef](Utils.serialize(one), loader)
}
