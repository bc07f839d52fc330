package sparkcer.views

import java.lang.reflect.{InvocationTargetException, Proxy}

import org.apache.spark.sql.{Row, SparkSession}
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference}
import org.apache.spark.sql.catalyst.parser.ParserInterface
import org.apache.spark.sql.cerbridge.CerException
import org.apache.spark.sql.execution.command.LeafRunnableCommand
import org.apache.spark.sql.types.StringType

import sparkcer.views.statement.{DropStatement, StatementText}

/** CREATE VIEW and DROP VIEW statements of views in `spark.sql`, on sessions with the extension. The setting
  * `spark.cer.views.path` is the folder of the views. All other statements are left to Spark, and DROP VIEW of a view
  * that is not in the folder.
  */
private[views] object ViewsSql {
  val Path = "spark.cer.views.path"

  /** Spark's parser with one more statement. It is a proxy, because the methods of the parser differ between versions.
    */
  def parser(session: SparkSession, delegate: ParserInterface): ParserInterface =
    Proxy
      .newProxyInstance(
        getClass.getClassLoader,
        Array[Class[_]](classOf[ParserInterface]),
        (_, method, arguments) =>
          arguments match {
            case Array(text: String, _*) if method.getName.startsWith("parsePlan") && isOurs(session, text) =>
              ViewStatements(text)
            case _ =>
              try method.invoke(delegate, Option(arguments).getOrElse(Array.empty[AnyRef]): _*)
              catch { case e: InvocationTargetException => throw e.getCause }
          }
      )
      .asInstanceOf[ParserInterface]

  private def isOurs(session: SparkSession, text: String): Boolean =
    if (Begin.findPrefixOf(text).isDefined) StatementText.split(text).forall(_.isOurs)
    else Drop.findPrefixOf(text).isDefined && isKnown(session, text)

  private def isKnown(session: SparkSession, text: String): Boolean = {
    val statements = StatementText.split(text)
    statements.forall(_.isDrop) && session.conf.getOption(Path).exists { path =>
      val views = Views.open(session, path)
      statements.forall(s => views.isView(DropStatement(s).name))
    }
  }

  private val Begin = "(?is)\\s*create\\s+(or\\s+replace\\s+)?view\\b.*\\b(initialize|pattern|window)\\b".r
  private val Drop = "(?is)\\s*drop\\s+view\\s+(if\\s+exists\\s+)?[a-z0-9_`]+\\s*;?\\s*$".r
}

private[views] final case class ViewStatements(text: String) extends LeafRunnableCommand {
  override val output: Seq[Attribute] = Seq(AttributeReference("statement", StringType)())

  override def run(session: SparkSession): Seq[Row] = {
    val path = session.conf
      .getOption(ViewsSql.Path)
      .getOrElse(throw new CerException("CER_VIEW_CATALOG.NO_FOLDER", "setting" -> ViewsSql.Path))
    Views.open(session, path).sql(text).collect().toSeq
  }
}
