"""Complex event recognition for Apache Spark.

>>> import spark_cer
>>> from spark_cer import cer
>>> spark = spark_cer.session()
>>> matches = events.transform(cer("SELECT * FROM S WHERE (SELL AS x ; BUY AS y) WITHIN 30 seconds", time="ts"))
"""

from spark_cer import rules
from spark_cer._diagram import Diagram
from spark_cer._jar import __version__
from spark_cer._merge import merge
from spark_cer._query import Cer, cer
from spark_cer._rows import rows
from spark_cer._rules import CerRules, bound, cer_rules
from spark_cer._session import configure, session

__all__ = [
    "Cer",
    "CerRules",
    "Diagram",
    "__version__",
    "bound",
    "cer",
    "cer_rules",
    "configure",
    "merge",
    "rows",
    "rules",
    "session",
]
