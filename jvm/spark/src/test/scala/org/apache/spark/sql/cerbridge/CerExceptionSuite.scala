package org.apache.spark.sql.cerbridge

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, ObjectInputStream, ObjectOutputStream}

import scala.jdk.CollectionConverters._

import org.apache.spark.{SparkThrowable, SparkThrowableHelper}

import sparkcer._
import sparkcer.internal.testkit.SparkSuite

/** What an error says of itself, and what Spark says of it, which is what PySpark asks. */
class CerExceptionSuite extends SparkSuite {
  private def check(e: Throwable with SparkThrowable, condition: String, state: String, text: String): Unit = {
    assertEquals(e.getMessage, s"[$condition] $text")
    assertEquals(e.getCondition, condition)
    assertEquals(e.getSqlState, state)
    assertEquals(e.getMessageParameters.asScala.toMap, Map("message" -> text))
    assertEquals(SparkThrowableHelper.getMessage(e.getCondition, e.getMessageParameters), e.getMessage)
  }

  test("an error of a query") {
    val e = intercept[CerException](spark.range(1).toDF().cer("SELECT * FORM S"))
    val text = "Line 1, column 10: expected FROM, found 'FORM'. Did you mean 'FROM'?\nSELECT * FORM S\n         ^"
    check(e, "CER_SYNTAX", "42000", text)
  }

  /** Nothing of its condition is known here before, as on a driver that has it from an executor. */
  test("an error of a task") {
    val sign = "<time> and ${other}"
    val error = new CerRuntimeException("CER_COUNT_OVERFLOW", "time" -> sign, "most" -> "2")
    val bytes = new ByteArrayOutputStream
    new ObjectOutputStream(bytes).writeObject(error)
    val e = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray)).readObject()
    val text = s"The event at $sign closes more than 2 matches. Use a shorter WITHIN, or SELECT NEXT, LAST or MAX."
    check(e.asInstanceOf[CerRuntimeException], "CER_COUNT_OVERFLOW", "38000", text)
  }
}
