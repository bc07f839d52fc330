package sparkcer.peers

import scala.beans.BeanProperty

/** An event as an object with getters and setters, which every engine reads at its best. Columns that a stream does not
  * have are NULL or 0.
  */
class Event extends Serializable {
  @BeanProperty var kind: String = _
  @BeanProperty var id: Long = 0L
  @BeanProperty var name: String = _
  @BeanProperty var volume: Long = 0L
  @BeanProperty var price: Double = 0.0
  @BeanProperty var x: String = _
  @BeanProperty var y: String = _
  @BeanProperty var key: Long = 0L
  @BeanProperty var ts: Long = 0L
}
