package sparkcer.peers

import java.lang.management.ManagementFactory

import com.sun.management.OperatingSystemMXBean

object Clock {
  private val system = ManagementFactory.getOperatingSystemMXBean.asInstanceOf[OperatingSystemMXBean]

  /** Nanoseconds of CPU time of the whole process. */
  def cpu(): Long = system.getProcessCpuTime
}
