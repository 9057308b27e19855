"""Putting jar and plugin into a session that is about to start."""

from __future__ import annotations

import argparse
import os
import shlex
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from sparklatency import words
from sparklatency.arguments import check_text, check_type
from sparklatency.binding.gateway import PLUGIN, jvm_api, reaching_jvm
from sparklatency.binding.jars import fits, is_ours, jar_of, jar_path
from sparklatency.binding.properties import setting
from sparklatency.errors import SparkLatencyError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_LEVEL = "spark.sparklatency.recording.level"
_NO_PLUGIN = (
    "configure: Spark starts a Connect server in this process, and replaces spark.plugins there. Without its "
    "plugin sparklatency lists only queries with a node, and checks its settings when the first is made. "
    "For the plugin start a server yourself, and connect to it by sc://."
)
_JARS, _PACKAGES = "spark.jars", "spark.jars.packages"
_ARGUMENTS = "PYSPARK_SUBMIT_ARGS"
_TOLD = "SPARKLATENCY_SUBMIT_ARGS"
"""What we have put in front of them. A call in a child process finds it there, too."""
_LEVELS = ("NONE", "INFO", "DEBUG", "TRACE")


def configure(
    builder: SparkSession.Builder, *, levels: Mapping[str, str] | None = None
) -> SparkSession.Builder:
    """Adds the jar for the installed pyspark to ``spark.jars``, and the plugin to ``spark.plugins``.

    Whatever these hold already stays, whether it was set on the builder, on ``spark-submit`` or in
    ``spark-defaults.conf``. Calling it twice adds nothing. A builder for a Spark Connect server elsewhere
    (``sc://…``) gets only the levels: what that server loads is its own affair. One that Spark starts in this
    process gets no plugin, for Spark replaces ``spark.plugins`` there, and a ``UserWarning`` says so.

    Beside ``spark.jars.packages`` the jar is put into the environment, into ``PYSPARK_SUBMIT_ARGS``: a
    builder's ``spark.jars`` would take the place of what Spark has fetched.

    Args:
        builder: before ``getOrCreate()``; the same object is returned.
        levels: recording levels of single queries, by their names: ``{"orders": "TRACE"}``. Each sets
            ``spark.sparklatency.recording.level.<query>``.

    Raises:
        TypeError: ``builder`` is no builder, or ``levels`` does not map names to levels.
        ValueError: a level is not NONE, INFO, DEBUG or TRACE; or a name is empty, cannot be written as
            UTF-8, or has a ``=`` where the JVM is still to start.
        SparkLatencyError: no jar fits the installed pyspark; or this process has a JVM that was started
            without it, or will start one with options that Spark prefers to the builder's.
    """
    # Spark Connect has builders of another class.
    if not all(hasattr(builder, name) for name in ("config", "getOrCreate")):
        given = f"{words.value(builder)} ({words.type_name(type(builder))})"
        raise TypeError(f"configure: builder takes SparkSession.builder, not {given}.")
    options: Mapping[str, str] = builder._options
    remote = options.get("spark.remote", os.environ.get("SPARK_REMOTE", ""))
    mode = options.get("spark.api.mode", os.environ.get("SPARK_API_MODE", "")).lower()
    is_elsewhere = remote.startswith("sc://")
    for query, level in _checked({} if levels is None else levels).items():
        if "=" in query and not is_elsewhere and not _has_jvm():
            # Spark starts a JVM with --conf key=value, and splits that at the first of them.
            raise ValueError(
                f"configure: the query {words.value(query)} in levels has a '=' in its name, and no JVM can "
                f"be started with that. Set its level when the session runs: spark.conf.set('{_LEVEL}.…', …)."
            )
        builder.config(f"{_LEVEL}.{query}", level)
    if is_elsewhere:
        return builder
    if remote or (mode if mode in ("classic", "connect") else _default_mode()) == "connect":
        warnings.warn(_NO_PLUGIN, stacklevel=2)
    if not _has_jvm():
        _take_back()
    jar = jar_path()
    jars = _jars(jar, options)
    plugins = _split(_in_force("spark.plugins", options))
    if PLUGIN not in plugins:
        plugins.append(PLUGIN)
    if jars is not None:
        _set_jars(jars, builder)
    return builder.config("spark.plugins", ",".join(plugins))


def _default_mode() -> str:
    import pyspark.util

    # Spark 3.5 has one mode alone.
    return str(getattr(pyspark.util, "default_api_mode", lambda: "classic")())


def _checked(levels: Mapping[str, str]) -> Mapping[str, str]:
    check_type("configure", "levels", levels, Mapping)
    for query, level in levels.items():
        check_type("configure", "a query in levels", query, str)
        check_text("configure", "a query in levels", query)
        name = words.value(query)
        check_type("configure", f"the level of {name}", level, str)
        if not query:
            raise ValueError("configure: a query in levels has no name.")
        if level.upper() not in _LEVELS:
            allowed = ", ".join(_LEVELS)
            raise ValueError(f"configure: the level of {name} is {words.value(level)}; use one of {allowed}.")
    return levels


def _set_jars(jars: list[str], builder: SparkSession.Builder) -> None:
    """Sets them where what Spark fetches stays beside them.

    A JVM that starts makes one list of the jars that it is told of and of the packages that it has fetched. A
    builder's takes the place of that list, and executors would have no package. So beside packages the JVM is
    told.
    """
    if _JARS in builder._options or not _packages(builder._options):
        builder.config(_JARS, ",".join(jars))
    else:
        os.environ[_TOLD] = f"--jars {shlex.quote(','.join(jars))} "
        os.environ[_ARGUMENTS] = os.environ[_TOLD] + (os.environ.get(_ARGUMENTS) or "pyspark-shell")


def _take_back() -> None:
    """Undoes what a call before has told a JVM that starts: this builder, or this Python, may want others."""
    told, arguments = os.environ.pop(_TOLD, None), os.environ.get(_ARGUMENTS, "")
    if told is not None and arguments.startswith(told):
        os.environ[_ARGUMENTS] = arguments.removeprefix(told)


def _jars(ours: str, builder_options: Mapping[str, str]) -> list[str] | None:
    """Returns the jars that are there, and behind them ours if there is none of sparklatency yet.

    None where nothing is to be set: where a JVM that starts has ours without the builder, or fetches it.
    """
    jars = _listed(_JARS, builder_options)
    packages = _packages(builder_options)
    is_fetched = _has(_PACKAGES, {package: jar_of(package) for package in packages}, ours)
    if _has(_JARS, {jar: jar for jar in jars}, ours):
        return jars if _has_jvm() or _JARS in builder_options else None
    if is_fetched:
        return None
    submitted = {} if _has_jvm() else _submit_args()
    if _JARS in submitted:
        raise SparkLatencyError(
            f"PYSPARK_SUBMIT_ARGS sets spark.jars to {submitted[_JARS]}, and Spark prefers that to the "
            f"builder's. Append {ours} to it there, after a comma. Or move the setting to the builder."
        )
    return [*jars, ours]


def _packages(builder_options: Mapping[str, str]) -> list[str]:
    """Returns what is to be fetched. What a JVM that runs has fetched is among its jars."""
    return [] if _has_jvm() else _listed(_PACKAGES, builder_options)


def _listed(key: str, builder_options: Mapping[str, str]) -> list[str]:
    """Returns what a JVM has on its class path, or takes for that as it starts."""
    # Of what it is submitted with it makes its class path, and leaves the builder's out.
    submitted = {} if _has_jvm() else _submit_args()
    return _split(submitted[key] if key in submitted else _in_force(key, builder_options))


def _has(key: str, jars: Mapping[str, str], ours: str) -> bool:
    """Tells whether a setting has a jar of ours, by the jar that each of its entries is; one has to fit."""
    found = [entry for entry, jar in jars.items() if is_ours(jar)]
    for entry in found:
        if not fits(jars[entry], ours):
            raise SparkLatencyError(
                f"{key} names {entry}, a jar of sparklatency for another Spark or of another version. "
                f"Take it out, and use {ours}."
            )
    return bool(found)


def _in_force(key: str, builder_options: Mapping[str, str]) -> str:
    """Returns what a list-valued key holds before we touch it, from wherever Spark would take it."""
    if _has_jvm():
        started_with = _jvm_setting(key)  # which may raise, whatever the builder has
        return builder_options.get(key, started_with)
    submitted = _submit_args()
    if key in submitted:
        return builder_options.get(key) or submitted[key]
    return builder_options.get(key) or _file_setting(key, submitted.get("properties_file"))


def _has_jvm() -> bool:
    from pyspark import SparkContext

    return SparkContext._gateway is not None or "PYSPARK_GATEWAY_PORT" in os.environ


def _jvm_setting(key: str) -> str:
    """Returns the setting that the JVM of this process was started with."""
    from pyspark import SparkConf, SparkContext

    with reaching_jvm():
        SparkContext._ensure_initialized()
        api = jvm_api(SparkContext._jvm)
    if api is None:
        raise SparkLatencyError(
            "This process has a JVM already, started without the jar of sparklatency. A JVM that runs cannot "
            'load it any more. Under spark-submit or the pyspark shell, add --jars "$(sparklatency jar)". '
            "Otherwise restart the Python process (the kernel). Call configure before the first session."
        )
    return SparkConf().get(key, "") or ""


def _submit_args() -> dict[str, str]:
    """Returns what PYSPARK_SUBMIT_ARGS sets: the keys of Spark, and ``properties_file``."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("--jars")
    parser.add_argument("--packages")
    parser.add_argument("--properties-file")
    parser.add_argument("--conf", "-c", action="append", default=[])
    given, _ = parser.parse_known_args(shlex.split(os.environ.get(_ARGUMENTS, "")))
    settings = dict(pair.split("=", 1) for pair in given.conf if "=" in pair)
    if given.jars is not None:
        settings[_JARS] = given.jars
    if given.packages is not None:
        settings[_PACKAGES] = given.packages
    if given.properties_file is not None:
        settings["properties_file"] = given.properties_file
    return settings


def _file_setting(key: str, properties_file: str | None) -> str:
    """Returns a setting of the properties file that a new JVM reads, and that the builder would replace."""
    from pyspark.find_spark_home import _find_spark_home

    folder = os.environ.get("SPARK_CONF_DIR") or Path(_find_spark_home(), "conf")
    path = Path(properties_file or Path(folder, "spark-defaults.conf"))
    return setting(path, key) if path.is_file() else ""


def _split(value: str) -> list[str]:
    return [entry.strip() for entry in value.split(",") if entry.strip()]
