package sparkcer.views

import org.apache.spark.sql.{SparkSessionExtensions, SparkSessionExtensionsProvider}

/** `CREATE VIEW v AS INITIALIZE …` in `spark.sql`, for the views under `spark.cer.views.path`. Every session that starts
  * with the jar on its class path has it, because META-INF/services names it.
  */
final class ViewsExtension extends SparkSessionExtensionsProvider {
  def apply(extensions: SparkSessionExtensions): Unit =
    extensions.injectParser((_, parser) => ViewsSql.parser(parser))
}
