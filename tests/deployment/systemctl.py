#!/usr/bin/python3
"""A stand-in for systemctl where systemd does not run: it starts what the units of the service name, as they say.

It knows start, stop, restart, enable, reload-or-restart and daemon-reload. Of the hardening it applies what works
without systemd: the user, the environment files, the limit of descriptors, no new privileges, no memory that is
writable and executable.
"""

import ctypes
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import time

UNITS = pathlib.Path("/etc/systemd/system")
RUN = pathlib.Path("/run/units")
PR_SET_NO_NEW_PRIVS, PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN = 38, 65, 1
PACKAGES = {  # the packages' own services: the user and the command
    "pgbouncer": "postgres /usr/sbin/pgbouncer /etc/pgbouncer/pgbouncer.ini",
    "redis-server": "redis /usr/bin/redis-server /etc/redis/redis.conf --daemonize no",
    "nginx": "root /usr/sbin/nginx -g daemon\u00a0off;",
    "prometheus": "prometheus prometheus --config.file=/etc/prometheus/prometheus.yml "
    "--storage.tsdb.path=/tmp/prometheus --web.listen-address=127.0.0.1:9090",
}


def unescape(value: str) -> str:
    """A value of an environment file, as systemd reads it (double quotes only)."""
    if value.startswith('"') and value.endswith('"'):
        return re.sub(r'\\(["\\`$])', r"\1", value[1:-1])
    return value


def read(unit: str) -> dict[str, list[str]]:
    """The lines of a unit by their key."""
    name, _, instance = unit.partition("@")
    text = (UNITS / (f"{name}@.service" if instance else f"{name}.service")).read_text().replace("%i", instance)
    lines: dict[str, list[str]] = {}
    for line in text.splitlines():
        key, mark, value = line.partition("=")
        if mark and not line.startswith("#"):
            lines.setdefault(key, []).append(value)
    return lines


def start(unit: str) -> None:
    """Start a unit in the background."""
    environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}
    RUN.mkdir(exist_ok=True)
    if unit in PACKAGES:
        user, *command = [word.replace("\u00a0", " ") for word in PACKAGES[unit].split(" ")]
        with (RUN / f"{unit}.log").open("a") as log:
            process = subprocess.Popen(
                command, env=environment, user=user, group=user, extra_groups=[], stdout=log, stderr=log
            )
        (RUN / f"{unit}.pid").write_text(str(process.pid))
        time.sleep(0.5)
        return
    lines = read(unit)
    for file in lines["EnvironmentFile"]:
        path = pathlib.Path(file.removeprefix("-"))
        if path.exists() or not file.startswith("-"):
            pairs = (line.partition("=") for line in path.read_text().splitlines() if line and line[0] != "#")
            environment |= {key: unescape(value) for key, _, value in pairs}

    def prepare() -> None:
        for option, value in ((PR_SET_NO_NEW_PRIVS, 1), (PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN)):
            ctypes.CDLL(None).prctl(option, value, 0, 0, 0)

    limit = min(int(lines["LimitNOFILE"][0]), resource.getrlimit(resource.RLIMIT_NOFILE)[1])
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    with (RUN / f"{unit}.log").open("a") as log:
        process = subprocess.Popen(
            lines["ExecStart"][0].split(),
            env=environment,
            cwd=lines["WorkingDirectory"][0],
            user=lines["User"][0],
            group=lines["Group"][0],
            extra_groups=[],
            umask=int(lines["UMask"][0], 8),
            preexec_fn=prepare,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    (RUN / f"{unit}.pid").write_text(str(process.pid))


def stop(unit: str) -> None:
    """Stop a unit and wait for its end."""
    file = RUN / f"{unit}.pid"
    if not file.exists():
        return
    pid = int(file.read_text())
    file.unlink()
    try:
        os.kill(pid, signal.SIGTERM)
        while pathlib.Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z":
            time.sleep(0.1)
    except (ProcessLookupError, FileNotFoundError):
        pass


def main() -> None:
    """Do what the command line says."""
    action, *units = [argument for argument in sys.argv[1:] if not argument.startswith("-")]
    if action == "enable" and "--now" not in sys.argv:
        return
    for unit in units:
        if unit == "postgresql":
            subprocess.run("pg_ctlcluster $(pg_lsclusters -h | awk '{print $1, $2}') start", shell=True, check=False)
            continue
        if action == "reload-or-restart" and (RUN / f"{unit}.pid").exists():
            os.kill(int((RUN / f"{unit}.pid").read_text()), signal.SIGHUP)
            continue
        if action in ("stop", "restart"):
            stop(unit)
        if action != "stop":
            start(unit)


main()
