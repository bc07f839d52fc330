# Everything starts here: `make help`. The work is done by scripts/setup.py, scripts/sbt and scripts/env.
PYTHON ?= python3
ARGS ?=
MODULE ?=

VERSION := $(shell sed -n 's/^version=//p' versions.properties)
SPARK := $(shell sed -n 's/^spark=\([0-9]*\.[0-9]*\).*/\1/p' versions.properties)
JAR := dist/spark-cer_$(SPARK)_2.13-$(VERSION).jar
OTHERS := $(shell sed -n 's/^otherSparks=//p' versions.properties)
OTHER_JARS := $(foreach v,$(OTHERS),dist/spark-cer_$(basename $(v))_2.13-$(VERSION).jar)
# The PySparks of the other versions: sbt compiles and tests with the jars inside them.
OTHER_SPARKS := $(foreach v,$(OTHERS),.tools/spark-$(v))
# Jars that only some tests and demos need.
KAFKA := .tools/kafka-broker/list.xml .tools/kafka-connector/list.xml
SINKS := .tools/lakes/list.xml .tools/postgresql/list.xml
WHEEL := dist/spark_cer-$(VERSION)-py3-none-any.whl
READY := .tools/ready
# The runners of other engines, which the project around all others does not know.
PEERS := harness live flink siddhi esper
RUN := scripts/env .venv/bin/python

# Folders are listed too: their time changes when a file is removed.
JVM := $(shell find jvm/engine/src/main jvm/spark/src/main jvm/views/src/main 2>/dev/null)
PY := $(shell find python -name '*.py' -o -name '*.pyi' -o -name py.typed)
TYPED := $(foreach d,python tests integration examples,$(if $(shell find $(d) -name '*.py' 2>/dev/null),$(d)))

TARGETS := help setup jar wheel demo demo-kafka test test-scala test-python test-long test-matrix lint fmt docs diagrams chart bench bench-spark bench-views bench-peers bench-smoke bench-live scaling backlog sizes compare jmh clean
.PHONY: $(TARGETS)
.SUFFIXES:
.NOTPARALLEL:
.DEFAULT_GOAL := help

# Asked here and not by a catch-all rule, which would take `make tests` for the folder of that name and do nothing.
UNKNOWN := $(filter-out $(TARGETS) $(JAR) $(OTHER_JARS) $(OTHER_SPARKS) $(KAFKA) $(SINKS) $(WHEEL) dist/core.jar,$(MAKECMDGOALS))
ifneq ($(UNKNOWN),)
$(error There is no target "$(firstword $(UNKNOWN))"; choose one of: $(TARGETS))
endif

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1 /p' Makefile | while read -r target text; do printf '  make %-12s %s\n' "$$target" "$$text"; done

define SETUP
command -v $(PYTHON) >/dev/null 2>&1 || { echo "There is no $(PYTHON): install Python 3.10 or later, or name one, for example \`make demo PYTHON=python3.12\`." >&2; exit 1; }; \
$(PYTHON) scripts/setup.py
endef

setup: ## prepare .venv, Java, sbt and the libraries (the other targets do it by themselves)
	@$(SETUP)

$(READY): scripts/setup.py scripts/requirements.txt versions.properties project/build.properties
	@$(SETUP)

jar: $(JAR) dist/core.jar ## dist/core.jar, for spark-submit --jars

$(JAR): $(JVM) build.sbt versions.properties $(wildcard project/*.sbt project/*.scala project/*.properties) | $(READY)
	@echo "Compiling the jar ..."
	@scripts/sbt dist

$(OTHER_SPARKS): .tools/spark-%: | $(READY)
	@$(PYTHON) scripts/setup.py $*

.tools/%/list.xml: versions.properties scripts/setup.py | $(READY)
	@$(PYTHON) scripts/setup.py $*

$(OTHER_JARS): dist/spark-cer_%_2.13-$(VERSION).jar: $(JVM) build.sbt versions.properties | $(OTHER_SPARKS)
	@echo "Compiling the jar for Spark $* ..."
	@SBT_OPTS=-Dspark=$(filter $*.%,$(OTHERS)) scripts/sbt dist

dist/core.jar: $(JAR)
	@cp $(JAR) $@

wheel: $(WHEEL) ## dist/spark_cer-*.whl, with a jar for each supported Spark inside

$(WHEEL): $(JAR) $(OTHER_JARS) $(PY) pyproject.toml scripts/hatch_build.py $(wildcard README.md LICENSE) | $(READY)
	@echo "Building the wheel ..."
	@rm -f dist/*.whl
	@.venv/bin/python -m hatchling build -t wheel -d dist

demo: $(JAR) ## find patterns in generated events, in batch and as a stream
	@$(RUN) examples/demo.py $(ARGS)

demo-kafka: $(JAR) $(KAFKA) ## from Kafka to alerts in Kafka, with a broker that it starts and ends
	@$(RUN) scripts/broker.py .venv/bin/python examples/kafka_alerts.py

# The jar is removed first, so that the Python tests never see an old one.
define TEST
rm -f $(JAR) dist/core.jar; $(RUN) scripts/test.py --fetch $(OTHERS) $(patsubst .tools/%/list.xml,%,$(KAFKA) $(SINKS)) --first $(1)
endef

test: $(READY) ## all tests, Scala and Python, with short forms of the kill loops, the soak and the version matrix
	@$(call TEST,integration/test_kill.py integration/test_kafka.py integration/test_merge.py integration/test_soak.py integration/test_views_kill.py integration/test_views_writers.py)

test-scala: $(READY) ## the Scala tests; MODULE=engine (or spark, views) picks a ring, ARGS='*Parser*' suites
	@scripts/sbt $(if $(ARGS),"$(addsuffix /,$(MODULE))testOnly $(ARGS)",$(addsuffix /,$(MODULE))test)

test-python: $(JAR) ## the Python tests; ARGS='-k stream' goes to pytest
	@$(RUN) -m pytest $(or $(ARGS),tests)

test-long: export CER_LONG = 1
test-long: $(READY) ## all tests in their long form, and integration/
	@$(call TEST,integration)

test-matrix: $(JAR) $(OTHER_JARS) ## the Python tests on each supported Spark
	@for v in $(OTHERS); do \
	  echo "On Spark $$v:"; \
	  scripts/env env PYTHONPATH=$(CURDIR)/.tools/spark-$$v:$(CURDIR)/python .venv/bin/python -m pytest $(or $(ARGS),tests/unit/test_cer.py tests/unit/test_errors.py tests/unit/test_connect.py) || exit 1; \
	done
	@echo "On Spark $(SPARK):"
	@$(RUN) -m pytest $(or $(ARGS),tests/unit/test_cer.py tests/unit/test_errors.py tests/unit/test_connect.py)

lint: $(READY) ## scalafmt, fatal warnings, ruff, mypy
	@status=0; \
	scripts/sbt Test/compile scalafmtCheckAll scalafmtSbtCheck $(PEERS:%=%/scalafmtCheckAll) & scala=$$!; \
	$(RUN) -m ruff check --quiet . || status=1; \
	$(RUN) -m ruff format --check --quiet . || { echo "Some Python files are not formatted: run \`make fmt\`." >&2; status=1; }; \
	$(RUN) -m mypy $(TYPED) scripts/backlog.py scripts/broker.py scripts/chart.py scripts/compare.py scripts/diagrams.py scripts/live.py scripts/sizes.py scripts/test.py || status=1; \
	MYPYPATH=scripts/peers $(RUN) -m mypy scripts/peers/*.py || status=1; \
	MYPYPATH=scripts/peers:scripts/scaling $(RUN) -m mypy scripts/scaling/*.py || status=1; \
	wait $$scala || status=1; \
	exit $$status

fmt: $(READY) ## format all sources
	@scripts/sbt scalafmtAll scalafmtSbt $(PEERS:%=%/scalafmtAll)
	@$(RUN) -m ruff check --quiet --fix . ; $(RUN) -m ruff format .

docs: $(READY) ## the documentation as a site, in site/
	@NO_MKDOCS_2_WARNING=1 $(RUN) -m mkdocs build --strict --quiet
	@echo "The site is in site/: open site/index.html."

diagrams: $(JAR) ## draw the pictures of the documentation anew
	@$(RUN) scripts/diagrams.py

chart: $(READY) ## draw docs/throughput.svg, docs/peers.md, docs/scaling.md and docs/papers.md anew; measure first with make bench-peers, make scaling, and make bench ARGS='--only S3-noend-w.* --write docs/throughput.tsv'
	@$(RUN) scripts/chart.py
	@$(RUN) scripts/peers draw
	@$(RUN) scripts/scaling draw

bench: $(READY) ## the engine over its workloads, with the bars; ARGS='--only S3.*' picks workloads
	@scripts/sbt "benchmarks/run $(ARGS)"

bench-spark: $(READY) ## Spark batches and streams against plain Spark queries, with the bars; ARGS='--only batch.*' picks sections
	@SBT_OPTS=-Dbench.gc=G1 scripts/sbt "benchmarks/runMain sparkcer.benchmarks.SparkBenchmark $(ARGS)"

bench-views: $(READY) ## views against recomputing and against updates by hand, with the bars; ARGS='--only view2' picks sections
	@SBT_OPTS=-Dbench.gc=G1 scripts/sbt "benchmarks/runMain sparkcer.benchmarks.ViewsBenchmark $(ARGS)"

backlog: $(JAR) $(KAFKA) ## late events and matches of a backlog in Kafka, read in several ways
	@$(RUN) scripts/broker.py .venv/bin/python scripts/backlog.py

sizes: $(JAR) ## bytes that a stream keeps of a key, of an event in partial matches, and of one that waits
	@$(RUN) scripts/sizes.py

bench-peers: $(JAR) ## spark-cer beside Flink, Esper, Siddhi, DuckDB and plain Spark, with the bars; ARGS='--only sequence.*' picks workloads
	@$(RUN) scripts/peers measure $(ARGS)

bench-smoke: $(JAR) ## the same without Esper on a few events: do all run, and find as many matches?
	@$(RUN) scripts/peers smoke $(ARGS)

scaling: $(JAR) ## what an event costs against events, keys, window, length, rules, matches and executors; ARGS='--only keys' picks sections
	@$(RUN) scripts/scaling measure $(ARGS)

bench-live: $(JAR) $(KAFKA) ## from Kafka to Kafka in Real-Time Mode, in micro-batches and in Flink CEP, with the bars; ARGS='--rate 500'
	@scripts/sbt flink/classpath
	@$(RUN) scripts/broker.py .venv/bin/python scripts/live.py $(ARGS)

compare: $(READY) ## a benchmark of two versions in turn; OLD=commit ARGS='engine --pairs 5 --rounds 3' (or spark, views)
	@[ -n "$(OLD)" ] || { echo "Say which version to compare with: make compare OLD=HEAD~1 ARGS=engine" >&2; exit 1; }
	@$(RUN) scripts/compare.py --old $(OLD) $(ARGS)

jmh: $(READY) ## the same engine under JMH; ARGS goes to JMH
	@scripts/env sh -c '[ -x "$$JAVA_HOME/bin/javac" ]' || { echo "JMH needs a Java with a compiler, and the one in use ($$(cat .tools/java-home)) has none: install a JDK 17 or later, run \`make setup\` and try again." >&2; exit 1; }
	@scripts/sbt "benchmarks/Jmh/run $(ARGS)"

clean: ## remove what was built (.venv and .tools stay)
	@rm -rf dist site target project/target project/project jvm/*/target jvm/peers/*/target .mypy_cache .ruff_cache .pytest_cache .hypothesis
	@find python tests integration examples scripts -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
