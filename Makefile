# Every chore, each one word; `make help` lists them. SPARK=4.3 picks one Spark line, without it all are meant.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
SHELL := /bin/bash

# The first line is the default one: it runs the demo and holds the tools, and all suites of the JVM. Of the others the newest runs those
# that depend on the line, and the older ones share them by turns: `make test` runs each on one of them, mostly another one each day. On
# the newest lines it runs the tests in Python and from end to end, on an older line one pipeline from end to end. `make test-full` runs
# all on the newest lines, and on an older line all but the rest of tests/e2e; so does SPARK=4.3. Spark 3.5 lacks what many suites use, so
# it never has more than the suites that depend on the line, and its pipeline.
NEWEST_LINES := 4.2 4.3
ALL_LINES := $(NEWEST_LINES) 4.1 4.0 3.5
LINES := $(or $(SPARK),$(ALL_LINES))
# What a jar is made for: pip brings Spark 3.5 for Scala 2.12 alone, and those who submit jars have it for Scala 2.13 too.
JARS_FOR := $(LINES) $(if $(filter 3.5,$(LINES)),3.5_2.13)
NEWER_LINES := $(filter $(NEWEST_LINES),$(LINES))
OLDER_LINES := $(filter-out $(NEWEST_LINES),$(LINES))
WHOLE_LINES := $(if $(SPARK)$(TEST_FULL),$(LINES),$(NEWEST_LINES))
RELEASE_4.2 := 4.2.0
RELEASE_4.3 := 4.3.0
RELEASE_4.1 := 4.1.4
RELEASE_4.0 := 4.0.5
RELEASE_3.5 := 3.5.9
HOME_LINE := $(firstword $(LINES))
WHOLE_BRIDGES := $(filter-out 3.5,$(if $(SPARK)$(TEST_FULL),$(LINES),$(HOME_LINE)))
PYTHON_LINES := $(filter-out 3.5,$(WHOLE_LINES))
UNKNOWN := $(filter-out $(ALL_LINES),$(LINES))
ifneq ($(UNKNOWN),)
$(error SPARK=$(UNKNOWN): no such Spark line; there are $(ALL_LINES))
endif

# Spark's own suites are in Maven for the first line only.
SUITES_LINE := $(firstword $(ALL_LINES))
ifneq ($(and $(filter spark-suites,$(MAKECMDGOALS)),$(filter-out $(SUITES_LINE),$(SPARK))),)
$(error Spark $(SPARK) has no test jars in Maven; spark-suites runs on $(SUITES_LINE) alone)
endif

# The day, unless it is given. All suites draw their samples by it.
export SAMPLE_SEED := $(or $(SAMPLE_SEED),$(shell expr $$(date +%s) / 86400))

VERSION := $(shell sed -n 's/^version = "\(.*\)"/\1/p' python/pyproject.toml)
PYTHON ?= python3
SBT_VERSION := $(shell sed -n 's/^sbt.version=//p' project/build.properties)
SBT_LAUNCHER := .tools/sbt-launch-$(SBT_VERSION).jar
HISTOGRAM := .tools/HdrHistogram-$(shell sed -n 's/^val histogram = "\(.*\)"/\1/p' build.sbt).jar
SBT := java -Xmx3g -XX:+UseParallelGC -jar $(SBT_LAUNCHER) -Dsbt.color=false -Dsbt.supershell=false $(if $(SPARK),-Dspark.line=$(SPARK))
RESULTS := $(CURDIR)/tests/bench/results
UPLOADS := $(CURDIR)/dist/release
# What scalafix reads is not to be had from the compiler of Spark 3.5.
# It compiles with fewer options, and keeps nothing of it. What is compiled already it takes as it is, so that comes first.
SBT_LINT = "all core/Test/compile bench/compile $(foreach line,$(NEWER_LINES),$(call bridge,$(line))/Test/compile) $(foreach line,$(filter-out 3.5,$(OLDER_LINES)),$(call bridge,$(line))/compile) e2e/compile sparkSuites/compile" \
	scalafmtCheckAll e2e/scalafmtCheckAll sparkSuites/scalafmtCheckAll scalafmtSbtCheck \
	"scalafixAll --check" "e2e/scalafixAll --check" "sparkSuites/scalafixAll --check" \
	$(foreach line,$(OLDER_LINES),$(call bridge,$(line))/scalafmtCheckAll $(if $(filter 3.5,$(line)),core212/scalafmtCheckAll,"$(call bridge,$(line))/scalafix --check"))

SBT_JARS = $(BRIDGES:%=%/unpacked)

scala = $(if $(filter 3.5,$(1)),2.12,2.13)
jar = dist/sparklatency-spark_$(firstword $(subst _, ,$(1)))_$(scala)-$(VERSION).jar
bridge = bridge$(subst .,,$(1))
BRIDGES := $(foreach line,$(JARS_FOR),$(call bridge,$(line)))
BRIDGE_TESTS := $(foreach line,$(LINES),$(call bridge,$(line))/$(if $(filter $(line),$(WHOLE_BRIDGES)),test,testLine))
JARS := $(foreach line,$(JARS_FOR),$(call jar,$(line)))
SPARKS := $(LINES:%=.venv/%/spark)
VENVS := .venv/$(HOME_LINE)/tools $(WHOLE_LINES:%=.venv/%/ready)
CLASSES := $(patsubst %,.venv/%/classes.jsa,$(NEWER_LINES))
PLAIN_FILES := .venv/plain-files.jar
HOME_JAR := $(call jar,$(HOME_LINE))
HOME_BRIDGE := $(call bridge,$(HOME_LINE))
WHEEL := dist/sparklatency-$(VERSION)-py3-none-any.whl

BUILD_SOURCES := build.sbt $(wildcard project/*.scala project/*.sbt project/build.properties)
JVM_SOURCES := $(BUILD_SOURCES) $(shell find jvm/core/src jvm/spark/src -type f)
# The page on automatic nodes starts a query of its own: it comes last, so that for the others there is only one.
PAGES := $(filter-out %/automatic.md,README.md $(wildcard python/docs/*.md)) python/docs/automatic.md
PYTHON_SOURCES := python/pyproject.toml $(shell find python/src -type f -not -path '*/jars/*' -not -name '*.pyc')

define copy_jars
mkdir -p dist python/src/sparklatency/jars
$(foreach line,$(JARS_FOR),cp jvm/spark/target/$(line)/scala-$(call scala,$(line))/$(notdir $(call jar,$(line))) dist/ &&) true
$(foreach line,$(LINES),cp jvm/spark/target/$(line)/unpacked/$(notdir $(call jar,$(line))) python/src/sparklatency/jars/ &&) true
cp LICENSE python/
endef

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 19

build: $(JARS) $(WHEEL) ## the jars and the wheel, in dist/

demo: ## half a minute of a live pipeline, its figures and its slow step
	@$(MAKE) --no-print-directory SPARK=$(HOME_LINE) $(HOME_JAR)
	.venv/$(HOME_LINE)/bin/sparklatency demo

test: ## lint and all suites, with a sample of cases; SAMPLE_SEED=7 runs a sample again
	@$(MAKE) --no-print-directory -j2 -Oline venv $(CLASSES) $(PLAIN_FILES)
	@$(MAKE) --no-print-directory -j2 test-jvm lint-python
	@$(MAKE) --no-print-directory test-parts

test-full: export TEST_FULL := 1
test-full: ## all cases of all suites, a thousand queries that come and go, the mutants: hours
	@$(MAKE) --no-print-directory -j2 test-jvm lint-python
	@$(MAKE) --no-print-directory test-parts mutants

PARTS := $(PYTHON_LINES:%=test-python-%) $(if $(filter $(SUITES_LINE),$(LINES)),test-spark-suites)

# Two parts run side by side: each waits for its own Spark half of the time.
test-parts: build $(VENVS)
	@$(if $(strip $(PARTS)),$(MAKE) --no-print-directory -j2 -Oline $(PARTS))
	@$(MAKE) --no-print-directory test-e2e

test-jvm: $(SBT_LAUNCHER) $(VENVS) $(SPARKS) # one session of sbt for all that the tests want of it; the lines' suites run side by side
	rm -rf jvm/core/target/test-reports jvm/spark/target/*/test-reports
	$(SBT) $(if $(SPARK)$(TEST_FULL),,-Dsuites.of.line=true) $(SBT_LINT) core/test \
		"all $(BRIDGE_TESTS) $(HOME_BRIDGE)/mimaReportBinaryIssues $(SBT_JARS) e2e/classpaths sparkSuites/classpath" \
		|| { $(PYTHON) tests/python/failed.py; exit 1; }
	$(copy_jars)
	touch tests/e2e/target/classpaths tests/spark_suites/target/classpath.txt

$(ALL_LINES:%=test-python-%): test-python-%: build .venv/%/ready $(CLASSES) $(PLAIN_FILES)
	SPARK_LINES="$(PYTHON_LINES)" .venv/$*/bin/python -m pytest -c python/pyproject.toml \
		--numprocesses 2 --dist loadfile --junitxml target/reports/python-$*.xml tests/python

# Three modules at a time, each with a broker and clusters of its own. With a fourth, on two processors, Spark takes a second to plan a batch.
test-e2e: build tests/e2e/target/classpaths $(CLASSES) $(PLAIN_FILES)
	SPARK_LINES="$(NEWER_LINES)" OLDER_LINES="$(OLDER_LINES)" .venv/$(HOME_LINE)/bin/python -m pytest -c python/pyproject.toml \
		--numprocesses 3 --dist loadfile --no-loadscope-reorder --junitxml target/reports/e2e.xml \
		$(if $(NEWER_LINES),tests/e2e,tests/e2e/test_older_lines.py)

mutants: build $(PLAIN_FILES) ## break the code in known ways, and see that tests fail; ONLY="core python/slo" picks some
	.venv/$(HOME_LINE)/bin/python tests/mutants/run.py --line $(HOME_LINE) $(ONLY)

publish-local: $(JARS) .venv/$(HOME_LINE)/ready ## what a release uploads: a Maven repository, wheel, sdist and checksums, in dist/release
	rm -rf $(UPLOADS)
	$(SBT) $(BRIDGES:%=%/publish)
	.venv/$(HOME_LINE)/bin/pip install --disable-pip-version-check --quiet --editable 'python[release]'
	.venv/$(HOME_LINE)/bin/python -m build --outdir $(UPLOADS)/python python
	.venv/$(HOME_LINE)/bin/twine check --strict $(UPLOADS)/python/*
	cd $(UPLOADS) && find maven python -type f | LC_ALL=C sort | xargs sha256sum > SHA256SUMS

test-release: ## install what `make publish-local` left, as users do, in empty homes: a quarter of an hour
	UPLOADS=$(UPLOADS) SPARK_LINES="$(LINES)" OLDER_LINES= .venv/$(HOME_LINE)/bin/python -m pytest -c python/pyproject.toml tests/e2e/test_release.py

tests/e2e/target/classpaths: $(BUILD_SOURCES) $(wildcard tests/e2e/jvm/*) | $(SBT_LAUNCHER) $(VENVS)
	$(SBT) e2e/classpaths
	touch $@

SPARK_SUITES = .venv/$(SUITES_LINE)/bin/python tests/spark_suites --jar $(call jar,$(SUITES_LINE)) \
	--what "Spark $(RELEASE_$(SUITES_LINE))'s own suites"

spark-suites: $(call jar,$(SUITES_LINE)) tests/spark_suites/target/classpath.txt ## Spark's own suites with the jar, all nodes at TRACE; hours. ONLY='Stream*' picks suites, RESUME=1 goes on
	$(SPARK_SUITES) $(if $(ONLY),--only '$(ONLY)') $(if $(KIND),--kind $(KIND)) $(if $(RESUME),--resume) $(if $(BOTH),--both)

# A handful of Spark's own tests, in under two minutes, and the tests of what runs them.
test-spark-suites: $(call jar,$(SUITES_LINE)) tests/spark_suites/target/classpath.txt
	$(SPARK_SUITES) --handful
	.venv/$(SUITES_LINE)/bin/python -m pytest -c python/pyproject.toml tests/spark_suites

tests/spark_suites/target/classpath.txt: $(BUILD_SOURCES) $(wildcard tests/spark_suites/jvm/*) | $(SBT_LAUNCHER) .venv/$(SUITES_LINE)/ready
	$(SBT) sparkSuites/classpath
	touch $@

pages: build tests/e2e/target/classpaths $(PLAIN_FILES) ## outputs and pictures in README and python/docs, from pipelines that run; wants Chromium, pngquant, jq
	.venv/$(HOME_LINE)/bin/sparklatency demo --seconds 20 --svg python/docs/demo.svg
	.venv/$(HOME_LINE)/bin/python python/docs/silence.py python/docs/silence.svg
	SPARK_LINES=$(HOME_LINE) CI=true PICTURES=$(CURDIR)/python/docs .venv/$(HOME_LINE)/bin/python -m pytest -c python/pyproject.toml tests/e2e/test_latency_tab.py -k drawn
	SPARK_LINES=$(HOME_LINE) .venv/$(HOME_LINE)/bin/python -m cogapp -rc -I python/docs -I tests/e2e -I tests/python -p "import outputs" $(PAGES)
	pngquant --force --ext .png 64 python/docs/*.png

runs: ## the table of what ran in tests.md: on each Spark line, from the reports that `make test` left
	$(PYTHON) tests/python/runs.py

scala-api: $(SBT_LAUNCHER) .venv/$(HOME_LINE)/spark ## the public Scala API that `make test` compares with from now on: tests/jvm/mima
	$(SBT) $(HOME_BRIDGE)/writeApi

reference: $(SBT_LAUNCHER) .venv/$(HOME_LINE)/ready ## what the code's tables of metrics and settings say: python/docs/reference.md and metrics.json
	REFERENCE_WRITE=1 $(SBT) "$(HOME_BRIDGE)/testOnly *ReferenceSuite"

bench: build $(HISTOGRAM) ## what a mark costs: an hour, on a machine that does nothing else
	$(foreach line,$(WHOLE_LINES),.venv/$(line)/bin/python tests/bench/pipelines.py --jar $(call jar,$(line)) --histogram $(HISTOGRAM) &&) true
	$(foreach line,$(WHOLE_LINES),.venv/$(line)/bin/python tests/bench/ingestion.py --jar $(call jar,$(line)) &&) true
	.venv/$(HOME_LINE)/bin/python tests/bench/unread.py --jar $(HOME_JAR)
	$(SBT) "bench/Jmh/run -rf text -rff $(RESULTS)/jmh.txt" "bench/Jmh/runMain io.sparklatency.bench.ClockAccuracy $(RESULTS)/clock.md" "bench/runMain io.sparklatency.bench.DriverLoad $(RESULTS)/driver-load.md" "bench/runMain io.sparklatency.figures.MarkerLoad $(RESULTS)/marker-load.md"
	$(foreach line,$(WHOLE_LINES),.venv/$(line)/bin/python tests/bench/silence.py --line $(line) &&) true
	.venv/$(HOME_LINE)/bin/python tests/bench/automatic.py --jar $(HOME_JAR)
	.venv/$(HOME_LINE)/bin/python tests/bench/markers.py --jar $(HOME_JAR)
	.venv/$(HOME_LINE)/bin/python tests/bench/beside_spark.py --jar $(HOME_JAR)
	.venv/$(HOME_LINE)/bin/python tests/bench/tab.py --jar $(HOME_JAR)
	.venv/$(HOME_LINE)/bin/python tests/bench/pages.py

format: $(SBT_LAUNCHER) $(VENVS) ## rewrite sources in the house style
	$(SBT) scalafixAll e2e/scalafixAll sparkSuites/scalafixAll scalafmtAll e2e/scalafmtAll sparkSuites/scalafmtAll scalafmtSbt
	.venv/$(HOME_LINE)/bin/ruff check --fix --config python/pyproject.toml python tests
	.venv/$(HOME_LINE)/bin/ruff format --config python/pyproject.toml python tests

lint: $(SBT_LAUNCHER) $(VENVS) lint-python ## scalafmt, scalafix, ruff, mypy
	$(SBT) $(SBT_LINT)

lint-python: $(VENVS)
	.venv/$(HOME_LINE)/bin/ruff check --config python/pyproject.toml python tests
	.venv/$(HOME_LINE)/bin/ruff format --check --config python/pyproject.toml python tests
	set -e; for part in python/src python/docs tests/python tests/e2e tests/bench tests/spark_suites tests/mutants/run.py; do .venv/$(HOME_LINE)/bin/mypy --config-file python/pyproject.toml $$part; done

venv: $(VENVS) $(SPARKS) ## a virtual environment with Spark for each line, in .venv/

clean: ## remove everything that was built
	rm -rf dist target project/target project/project jvm/*/target tests/e2e/target tests/spark_suites/target tests/mutants/target python/src/sparklatency/jars python/LICENSE .venv .tools

$(SBT_LAUNCHER):
	mvn -q -B dependency:copy -Dartifact=org.scala-sbt:sbt-launch:$(SBT_VERSION) -DoutputDirectory=$(@D)

$(HISTOGRAM):
	mvn -q -B dependency:copy -Dartifact=org.hdrhistogram:HdrHistogram:$(patsubst HdrHistogram-%.jar,%,$(@F)) -DoutputDirectory=$(@D)

$(JARS) &: $(JVM_SOURCES) | $(SBT_LAUNCHER) $(SPARKS)
	@echo "Building the jar for Spark $(LINES). The first time this downloads the compiler and takes two minutes."
	$(SBT) "all $(SBT_JARS)"
	$(copy_jars)

$(WHEEL): $(PYTHON_SOURCES) $(JARS) | $(VENVS)
	.venv/$(HOME_LINE)/bin/pip wheel --quiet --no-deps --wheel-dir dist ./python
	touch $@

PIP_INSTALL = .venv/$*/bin/pip install --disable-pip-version-check

# What the demo needs comes first, so that it starts soon. pip makes a wheel of pyspark, only to unpack it: packing it would take a
# third of the time.
.venv/%/spark: python/pyproject.toml
	@echo "Installing pyspark $(RELEASE_$*) into .venv/$*. It has 400 MB, which takes about a minute."
	$(PYTHON) -m venv .venv/$*
	$(PIP_INSTALL) --config-settings=--build-option=--compression=stored pyspark==$(RELEASE_$*)
	$(PIP_INSTALL) --editable python
	touch $@

.venv/%/ready: .venv/%/spark
	$(PIP_INSTALL) --quiet --editable 'python[test]'
	touch $@

# The line that lints, writes pages and drives a browser wants more.
.venv/%/tools: .venv/%/ready
	$(PIP_INSTALL) --quiet --editable 'python[tools]'
	touch $@

# Without it each of the tests' many JVMs would load Spark's classes from jars, a quarter to a third of all that it does.
.venv/%/classes.jsa: .venv/%/spark tests/e2e/loaded.py
	@echo "Archiving the classes of Spark $(RELEASE_$*), so that tests start it sooner."
	rm -f $@
	PYSPARK_PYTHON=.venv/$*/bin/python .venv/$*/bin/spark-submit --master 'local[2]' --conf spark.ui.port=0 --conf spark.sql.shuffle.partitions=2 \
		--driver-java-options "-XX:ArchiveClassesAtExit=$(CURDIR)/$@ -XX:TieredStopAtLevel=1 -XX:+UseSerialGC" \
		tests/e2e/loaded.py >.venv/$*/classes.log 2>&1
	test -s $@

# Tests' files, which are written without starting a process for each.
$(PLAIN_FILES): tests/jvm/spark/PlainFiles.java | .venv/$(HOME_LINE)/spark
	javac --release 17 -d $(@:.jar=) -cp "$$(echo .venv/$(HOME_LINE)/lib/*/site-packages/pyspark/jars/hadoop-client-api-*.jar)" $<
	jar --create --file $@ -C $(@:.jar=) .

.SECONDARY:
.PHONY: help build demo publish-local test-release runs scala-api test test-full test-jvm spark-suites test-spark-suites test-parts mutants pages reference bench format lint lint-python venv test-e2e clean $(ALL_LINES:%=test-python-%)
