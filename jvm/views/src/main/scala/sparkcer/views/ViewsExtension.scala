package sparkcer.views

import org.apache.spark.sql.{SparkSessionExtensions, SparkSessionExtensionsProvider}

/** Adds the CREATE VIEW and DROP VIEW statements of views to `spark.sql`, for the folder `spark.cer.views.path`. Every
  * session with the jar on its class path has the extension, because META-INF/services names it.
  */
final class ViewsExtension extends SparkSessionExtensionsProvider {
  def apply(extensions: SparkSessionExtensions): Unit =
    extensions.injectParser((session, parser) => ViewsSql.parser(session, parser))
}
