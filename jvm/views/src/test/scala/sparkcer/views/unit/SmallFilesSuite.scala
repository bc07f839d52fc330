package sparkcer.views.unit

import org.apache.hadoop.conf.Configuration

import sparkcer.internal.testkit.SparkSuite
import sparkcer.views.store.SmallFiles
import sparkcer.views.testkit.Network

/** Files are read with the settings that someone has set, and without Hadoop's defaults. */
final class SmallFilesSuite extends SparkSuite {
  import Network._

  test("settings that are set stay, defaults go") {
    val conf = new Configuration()
    conf.set("fs.own.key", "1")
    conf.set("io.file.buffer.size", "8192")
    val some = SmallFiles.set(conf)
    assertEquals((some.get("fs.own.key"), some.get("io.file.buffer.size")), ("1", "8192"))
    assert(conf.get("fs.trash.interval") != null && some.get("fs.trash.interval") == null)
    assert(some.size() < conf.size() / 10, clue((some.size(), conf.size())))
  }

  test("many parts are read in few tasks, and with file systems that are not cached") {
    val v = open(spark)
    v.append("M", rows(spark, (0 until 300).map(m => (m.toLong, "s", m)): _*))
    def sum() = v.read("M").selectExpr("sum(loss)", "count(DISTINCT PART_TIMESTAMP)").head()
    assertEquals((sum().getLong(0), sum().getLong(1)), (44850L, 300L))
    assert(v.read("M").rdd.getNumPartitions <= 3)
    withConf("spark.sql.files.openCostInBytes" -> (32L << 20).toString) {
      assert(v.read("M").rdd.getNumPartitions > 50)
    }
    withConf("fs.file.impl.disable.cache" -> "true")(assertEquals(sum().getLong(0), 44850L))
  }
}
