"""``python -m spark_cer`` is the command ``spark-cer``."""

import sys

from spark_cer.cli import main

if __name__ == "__main__":
    sys.exit(main())
