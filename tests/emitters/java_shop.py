"""java/shop/Shop.java and the Java emitter: how they are compiled and started."""

import os
import pathlib
import shutil
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
EMITTER = HERE.parent.parent / "emitters" / "java"
JARS = [pathlib.Path("/usr/share/java", f"{name}.jar") for name in (
    "commons-logging", "spring3-aop", "spring3-beans", "spring3-context", "spring3-core",
    "spring3-expression", "spring3-web", "spring3-web.servlet", "tomcat9-annotations-api",
    "tomcat9-api", "tomcat9-catalina", "tomcat9-coyote", "tomcat9-el-api", "tomcat9-jasper",
    "tomcat9-jaspic-api", "tomcat9-jni", "tomcat9-jsp-api", "tomcat9-juli",
    "tomcat9-servlet-api", "tomcat9-util", "tomcat9-util-scan")]
NEEDS = "needs a JDK, Spring and Tomcat: run tools/setup --java"


def can_run():
    return bool(shutil.which("javac")) and all(jar.exists() for jar in JARS)


def class_path(folder):
    return os.pathsep.join(map(str, [folder, *JARS]))


def compile_into(folder):
    """The emitter, the shop, and what tests need besides."""
    sources = [*EMITTER.rglob("*.java"), *(HERE / "java").rglob("*.java")]
    done = subprocess.run(
        ["javac", "--release", "8", "-Xlint:all,-options,-path,-serial,-classfile,-processing",
         "-Werror", "-d", str(folder), "-cp", class_path(folder), *map(str, sources)],
        capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(done.stderr)


def command(folder):
    """The shop, compiled into `folder`."""
    return ["java", "-XX:TieredStopAtLevel=1", "-cp", class_path(folder), "shop.Shop", str(folder)]
