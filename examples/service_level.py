"""A broken service level: a ticket that nobody closes within four hours.

The match ends when the four hours are over, so on a stream it is an alert that comes by itself, when the watermark has
passed. The comparison finds the `close` of the same ticket, although other tickets are closed in between.
"""

from __future__ import annotations

from datetime import datetime, timedelta

import spark_cer
from spark_cer import cer

QUERY = """
    SELECT o[ticket, team] FROM Tickets
    WHERE open AS o ; NO (close AS c FILTER c.ticket = o.ticket) FOR 4 hours"""

START = datetime(2026, 3, 2, 8)

# Hours after START, what happened, the ticket and its team.
TICKETS = [
    (0.0, "open", 1, "mail"),
    (0.5, "open", 2, "web"),
    (2.0, "close", 1, "mail"),
    (3.0, "open", 3, "web"),
    (4.5, "close", 2, "web"),
    (6.0, "open", 4, "mail"),
    (8.0, "close", 3, "web"),
    (9.0, "open", 5, "web"),
]


def main() -> None:
    spark = spark_cer.session()
    rows = [(START + timedelta(hours=at), kind, ticket, team) for at, kind, ticket, team in TICKETS]
    events = spark.createDataFrame(rows, "ts TIMESTAMP, type STRING, ticket INT, team STRING")
    found = events.transform(cer(QUERY, time="ts"))
    print("Not closed within four hours:")
    found.orderBy("end").select("o.ticket", "o.team", "start", "end").show(truncate=False)
    print("Ticket 2 was closed in the last moment. Tickets 4 and 5 may still be closed in time.")


if __name__ == "__main__":
    main()
