package sparkcer.internal.unit

import org.apache.spark.connect.proto
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.cerbridge.Sessions
import org.apache.spark.sql.connect.planner.SparkConnectPlanner
import org.apache.spark.sql.connect.service.SessionHolder
import org.sparkproject.connect.protobuf.{Any => ProtoAny}

import sparkcer.CerRelationPlugin
import sparkcer.engine.testkit.ErrorCase

/** All errors of a Spark Connect server: what a newer client could send. */
final private[unit] class ConnectErrors(spark: SparkSession) {
  private type Literal = proto.Expression.Literal.Builder

  private def literal(set: Literal => Literal): proto.Expression =
    proto.Expression.newBuilder.setLiteral(set(proto.Expression.Literal.newBuilder)).build()

  private def named(name: String, set: Literal => Literal): proto.Expression = {
    val argument = proto.NamedArgumentExpression.newBuilder.setKey(name).setValue(literal(set))
    proto.Expression.newBuilder.setNamedArgumentExpression(argument).build()
  }

  private def send(function: String, options: proto.Expression*): Any = {
    val call = proto.UnresolvedTableValuedFunction.newBuilder
      .setFunctionName(function)
      .addArguments(literal(_.setString("SELECT * FROM S WHERE S")))
    options.foreach(call.addArguments)
    val range = proto.Relation.newBuilder.setRange(proto.Range.newBuilder.setEnd(1).setStep(1))
    val input = proto.SubqueryAlias.newBuilder.setAlias("").setInput(range)
    val message = proto.WithRelations.newBuilder
      .setRoot(proto.Relation.newBuilder.setUnresolvedTableValuedFunction(call))
      .addReferences(proto.Relation.newBuilder.setSubqueryAlias(input))
    val relation = proto.Relation.newBuilder.setWithRelations(message).build()
    val any = ProtoAny.newBuilder.setTypeUrl("sparkcer/spark.connect.Relation").setValue(relation.toByteString)
    val planner = new SparkConnectPlanner(SessionHolder("user", "session", Sessions.session(spark)), None)
    new CerRelationPlugin().transform(any.build().toByteArray, planner)
  }

  private def error(key: String, what: String)(code: => Any): ErrorCase = new ErrorCase(
    s"CER_OLD_SERVER.$key",
    s"[CER_OLD_SERVER] The spark-cer on the Spark Connect server does not know $what. " +
      "Put the jar of the client's version on the server.",
    code
  )

  def cases: Vector[ErrorCase] = Vector(
    error("FUNCTION", "this kind of query")(send("another")),
    error("OPTION", "the option 'speed'")(send("cer", named("speed", _.setString("high")))),
    error("VALUE", "INT as time")(send("cer", named("time", _.setInteger(3))))
  )
}
