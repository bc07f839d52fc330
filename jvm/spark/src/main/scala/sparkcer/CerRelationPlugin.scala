package sparkcer

import java.util.Optional

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.ObjectMapper

import org.apache.spark.connect.proto
import org.apache.spark.sql.{Column, DataFrame}
import org.apache.spark.sql.catalyst.expressions.{Expression, Literal, NamedArgumentExpression}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.connect.ConnectProtoUtils
import org.apache.spark.sql.connect.planner.SparkConnectPlanner
import org.apache.spark.sql.connect.plugin.RelationPlugin
import org.apache.spark.sql.functions.lit
import org.apache.spark.sql.cerbridge.{CerException, Columns, Plans}
import org.apache.spark.sql.types.StringType
import org.sparkproject.connect.protobuf.{Any => ProtoAny}

import sparkcer.internal.bind.Options
import sparkcer.internal.rules.{Rule, RuleExplanation}
import sparkcer.internal.stream.Snapshot

/** Queries of Spark Connect clients, on servers that are started with
  * `spark.connect.extensions.relation.classes=sparkcer.CerRelationPlugin`. Loaded by that setting alone, because a
  * session without it may have no Spark Connect on its class path.
  *
  * A query comes as a call of a table function, in Spark Connect's own messages, so that both sides have the classes
  * and the literals of every type without generated code of our own:
  *
  * {{{
  * Any("sparkcer/spark.connect.Relation")
  *   WithRelations
  *     root:       cer('SELECT …', time => 'ts', …)     UnresolvedTableValuedFunction
  *     references: SubqueryAlias(the input's name, the input), …
  * }}}
  *
  * The one input of a query that names none has the empty name. Parameters are options `params.name`; the option `type`
  * may be NULL. The functions `explain`, `svg` and `mermaid` have no input, and give a text in one row; `types` has an
  * empty one, if all types of the query occur.
  */
final class CerRelationPlugin extends RelationPlugin {
  import CerRelationPlugin._

  def transform(relation: Array[Byte], planner: SparkConnectPlanner): Optional[LogicalPlan] = {
    val message = ProtoAny.parseFrom(relation)
    if (message.getTypeUrl != TypeUrl) Optional.empty()
    else {
      // Plans nest deeper than protobuf takes unasked, and the server's setting holds for what is packed too.
      val depth = planner.session.sparkContext.getConf.getInt("spark.connect.grpc.marshallerRecursionLimit", 1024)
      val call = ConnectProtoUtils.parseRelationWithRecursionLimit(message.getValue.toByteArray, depth)
      Optional.of(planOf(call.getWithRelations, planner))
    }
  }
}

private object CerRelationPlugin {
  private val TypeUrl = "sparkcer/spark.connect.Relation"

  private def planOf(message: proto.WithRelations, planner: SparkConnectPlanner): LogicalPlan = {
    val call = message.getRoot.getUnresolvedTableValuedFunction
    val (named, unnamed) =
      call.getArgumentsList.asScala.toVector.map(planner.transformExpression).partitionMap {
        case NamedArgumentExpression(name, value) => Left(name -> value)
        case value                                => Right(value)
      }
    val inputs = message.getReferencesList.asScala.toVector.map { reference =>
      val input = reference.getSubqueryAlias
      input.getAlias -> Plans.dataFrame(planner.session, planner.transformRelation(input.getInput))
    }
    (call.getFunctionName, unnamed, inputs) match {
      case ("cer", Vector(query), Vector(("", events))) =>
        Plans.planOf(Cer(events, text("query", query), optionsOf(named.toMap)))
      case ("cer", Vector(query), several) if several.nonEmpty && several.forall(_._1.nonEmpty) =>
        Plans.planOf(Cer.over(several.toMap, text("query", query), optionsOf(named.toMap)))
      case ("rules", Vector(queries), given) if given.nonEmpty =>
        val (own, others) = named.toMap.partition(_._1 == "invalid")
        val (params, options) = others.partition(_._1.startsWith(Param))
        val rules = rulesOf(text("rules", queries), params)
        val skip = own.contains("invalid")
        Plans.planOf(given match {
          case Vector(("", events)) => CerRules(events, rules, optionsOf(options), skip)
          case several              => CerRules.over(several, rules, optionsOf(options), skip)
        })
      case ("snapshot", Vector(query), given) if given.nonEmpty =>
        val (own, others) = named.toMap.partition(o => Set("at", "checkpoint")(o._1))
        val options = optionsOf(others)
        val text = this.text("query", query)
        val events = merged(given, text, options)
        val at = own.get("at").map(Columns.column)
        Plans.planOf(own.get("checkpoint") match {
          case Some(path) => Snapshot.stream(events, text, options, at, this.text("checkpoint", path))
          case None       => Snapshot.batch(events, text, options, at)
        })
      case ("types", Vector(query), given) if given.nonEmpty =>
        val (text, options) = (this.text("query", query), optionsOf(named.toMap))
        PythonEntry.typesMustOccur(merged(given, text, options), text, options)
        row(planner, "")
      case ("explain_rules", Vector(queries), Vector()) =>
        row(planner, Cer.inWords(RuleExplanation.of(rulesOf(text("rules", queries), named.toMap))))
      case ("explain", Vector(query), Vector()) =>
        row(planner, PythonEntry.explain(text("query", query), params(named)))
      case ("svg", Vector(query), Vector())     => row(planner, PythonEntry.svg(text("query", query), params(named)))
      case ("mermaid", Vector(query), Vector()) =>
        row(planner, PythonEntry.mermaid(text("query", query), params(named)))
      case _ => throw new CerException("CER_OLD_SERVER.FUNCTION")
    }
  }

  /** The names and queries of a set of rules, `[["name", "SELECT …"], …]`. The parameters of the i-th rule are
    * `params.i.name`.
    */
  private def rulesOf(json: String, params: Map[String, Expression]): Vector[Rule] =
    new ObjectMapper().readTree(json).elements.asScala.toVector.zipWithIndex.map { case (rule, i) =>
      val prefix = s"$Param$i."
      val its = params.collect {
        case (p, value) if p.startsWith(prefix) => p.stripPrefix(prefix) -> Columns.column(value)
      }
      Rule(rule.get(0).textValue, rule.get(1).textValue, its)
    }

  private def params(named: Vector[(String, Expression)]): PythonEntry.Params =
    optionsOf(named.toMap).params.collect { case (name, c: Column) => name -> c }.asJava

  private def merged(inputs: Vector[(String, DataFrame)], query: String, options: Options): DataFrame =
    if (inputs.head._1.isEmpty) inputs.head._2 else Cer.merged(inputs.toMap, query, options)

  private def row(planner: SparkConnectPlanner, text: String): LogicalPlan =
    Plans.planOf(planner.session.range(1).select(lit(text).as("text")))

  private def optionsOf(all: Map[String, Expression]): Options = {
    val (params, named) = all.partition(_._1.startsWith(Param))
    named.keys.find(!Options.Names(_)).foreach(n => throw new CerException("CER_OLD_SERVER.OPTION", "option" -> n))
    Options.named(
      named.map {
        case (name @ "type", Literal(null, _)) => name -> null
        case (name, value)                     => name -> text(name, value)
      },
      params.map { case (name, value) => name.stripPrefix(Param) -> Columns.column(value) }
    )
  }

  private val Param = "params."

  private def text(what: String, e: Expression): String = e match {
    case Literal(value, StringType) => value.toString
    case _ => throw new CerException("CER_OLD_SERVER.VALUE", "type" -> e.dataType.sql, "argument" -> what)
  }
}
