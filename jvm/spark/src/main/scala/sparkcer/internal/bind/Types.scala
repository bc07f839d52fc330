package sparkcer.internal.bind

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.cerbridge.CerException
import org.apache.spark.sql.types.{StringType, StructType}

import sparkcer.{Cer, TypeColumn}
import sparkcer.engine.ceql.{CeqlException, Formula, Query}

/** An input under its name in FROM, and whether it has a type column. */
final private[sparkcer] case class Input(name: String, schema: StructType, typed: Boolean)

/** Checks the event types of a pattern against the types that events can have. */
private[sparkcer] object Types {

  /** The name of the type column, if there can be one. */
  def column(query: Query, said: TypeColumn): Option[String] = said match {
    case TypeColumn.Named(name) => Some(name)
    case TypeColumn.None        => None
    case TypeColumn.Default     =>
      val from = query.from.map(_.value).toSet
      if (atoms(query).forall(a => from(a.eventType))) None else Some(Usual)
  }

  /** The default name of the type column. */
  val Usual = "type"

  private def atoms(query: Query): Vector[Formula.Atom] =
    query.where.subformulas.collect { case a: Formula.Atom => a }.toVector

  /** Fails if the pattern has a type that no event can have. All events of an input without a type column have its FROM
    * name as their type.
    */
  def mustBePossible(query: Query, inputs: Vector[Input]): Unit = atoms(query).foreach { a =>
    val from = inputs.filter(i => a.stream.forall(_ == i.name))
    if (!from.exists(i => i.typed || i.name == a.eventType)) impossible(query, a, from)
  }

  private def impossible(query: Query, a: Formula.Atom, from: Vector[Input]): Nothing = {
    val names = from.map(_.name)
    val columns = from.flatMap(_.schema.filter(_.dataType == StringType)).map(f => s"type='${f.name}'").distinct
    val (key, inputs) =
      if (from.length == 1) ("CER_UNKNOWN_TYPE.INPUT", Seq("input" -> names.head))
      else ("CER_UNKNOWN_TYPE.INPUTS", Seq("inputs" -> names.mkString(", "), "names" -> names.mkString(" or ")))
    val common = inputs ++
      Seq("type" -> a.eventType, "suggestion" -> CeqlException.suggestion(a.eventType, names))
    if (columns.isEmpty) throw new CeqlException(query.text, a.offset, s"${key}_WITHOUT_STRING", common: _*)
    else throw new CeqlException(query.text, a.offset, key, common :+ ("columns" -> columns.mkString(" or ")): _*)
  }

  /** Fails if the pattern has a type that none of these events has. Reads the types of all events. */
  def mustOccur(df: DataFrame, text: String, options: Options): Unit = Cer.inWords {
    if (df.isStreaming) throw new CerException("CER_UNSUPPORTED.TYPES_OF_STREAM")
    val b = Binding.of(df, text, options)
    val query = b.program.query
    val wanted = atoms(query).distinct
    val kinds = df.select(b.streamName.as("stream"), b.typeName.as("type")).distinct()
    def pairs(rows: DataFrame) = rows.collect().map(r => (r.getString(0), r.getString(1))).toVector
    def of(a: Formula.Atom, found: Vector[(String, String)]) =
      found.collect { case (s, t) if a.stream.forall(_ == s) => t }.distinct
    val met = pairs(kinds.where(kinds("type").isin(wanted.map(_.eventType).distinct: _*)))
    val missing = wanted.filterNot(a => of(a, met).contains(a.eventType))
    if (missing.nonEmpty) {
      val others = pairs(kinds.where(kinds("type").isNotNull).orderBy("type", "stream").limit(MostRead))
      val named = missing.map { a =>
        s"'${a.variable}'" + CeqlException.nearest(a.eventType, of(a, others)).fold("")(n => s" (did you mean '$n'?)")
      }
      val types = others.map(_._2).distinct
      val absent = "types" -> named.mkString(" or ")
      val occurring = "occurring" -> types.take(MostShown).mkString(", ")
      def refuse(key: String, parameters: (String, String)*) =
        throw new CeqlException(query.text, missing.head.offset, key, parameters: _*)
      if (types.isEmpty) refuse("CER_UNKNOWN_TYPE.ABSENT_AS_ALL", absent)
      else if (types.length > MostShown) refuse("CER_UNKNOWN_TYPE.ABSENT_AMONG_MANY", absent, occurring)
      else refuse("CER_UNKNOWN_TYPE.ABSENT", absent, occurring)
    }
  }

  /** How many types are searched for a similar name, and how many are listed in the message. */
  private val MostRead = 10000
  private val MostShown = 20
}
