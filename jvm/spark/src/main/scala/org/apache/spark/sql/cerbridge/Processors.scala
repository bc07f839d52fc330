package org.apache.spark.sql.cerbridge

import org.apache.spark.sql.streaming.{StatefulProcessor, StatefulProcessorHandle}

object Processors {

  /** Lets a processor work with the state of the one that it is part of. */
  def share(handle: StatefulProcessorHandle, part: StatefulProcessor[_, _, _]): Unit = part.setHandle(handle)
}
