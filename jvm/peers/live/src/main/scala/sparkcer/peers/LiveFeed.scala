package sparkcer.peers

import java.util.{Collections, Map => JavaMap, Optional, Properties}

import org.apache.kafka.clients.admin.{Admin, NewTopic}
import org.apache.kafka.clients.producer.{KafkaProducer, ProducerRecord}

/** Sends events to a topic: `LiveFeed BROKER EVENTS MATCHES RATE NUMBER`, so many in a second, or as fast as it can if
  * RATE is 0. The topics are new, of one partition; Kafka notes when it got a match.
  */
object LiveFeed {
  def main(args: Array[String]): Unit = {
    val Vector(broker, events, matches, rate, number) = args.toVector: @unchecked
    val properties = LiveKafka.properties(broker)
    create(properties, events, "CreateTime")
    create(properties, matches, "LogAppendTime")
    println("ready")
    val producer = new KafkaProducer[String, String](properties)
    val source = new LiveEvents
    if (rate.toInt > 0) scala.io.StdIn.readLine(): Unit
    val begun = System.nanoTime()
    (0L until number.toLong).foreach { i =>
      if (rate.toInt > 0) {
        val wait = begun + i * 1000000000L / rate.toInt - System.nanoTime()
        if (wait > 0) java.util.concurrent.locks.LockSupport.parkNanos(wait)
      }
      producer.send(new ProducerRecord(events, source.next()))
    }
    producer.close()
    println("sent")
  }

  private def create(properties: Properties, topic: String, time: String): Unit = {
    val admin = Admin.create(properties)
    try {
      val one = new NewTopic(topic, Optional.of[Integer](1), Optional.empty[java.lang.Short]())
      val all = Collections.singleton(one.configs(JavaMap.of("message.timestamp.type", time)))
      admin.createTopics(all).all().get(): Unit
    } finally admin.close()
  }
}

object LiveKafka {
  def properties(broker: String): Properties = {
    val p = new Properties
    p.put("bootstrap.servers", broker)
    p.put("linger.ms", "0")
    Seq("key", "value").foreach { of =>
      p.put(s"$of.serializer", "org.apache.kafka.common.serialization.StringSerializer")
      p.put(s"$of.deserializer", "org.apache.kafka.common.serialization.StringDeserializer")
    }
    p
  }
}
