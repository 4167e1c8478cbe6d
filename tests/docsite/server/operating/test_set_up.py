"""`set-up.sh` on a machine that is a folder: its paths lead there, and what it starts is written down."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.docsite.server.operating.test_deploy_files import DEPLOY

STAND_INS = {
    "runuser": "cat > /dev/null",
    "systemctl": "",
    "nginx": "",
    "useradd": "",
    "redis-cli": 'cat "$HERE/keyspace" 2>/dev/null || echo "Could not connect to Redis" >&2',
}
# Without owners, which only root may give.
INSTALL = """for argument; do
    shift
    case ${last-} in -o | -g) last=; continue ;; esac
    last=$argument
    case $argument in -o | -g) continue ;; esac
    set -- "$@" "$argument"
done
exec /usr/bin/install "$@"
"""


class Machine:
    """A folder with the files of the packages."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("pgbouncer", "redis", "nginx/sites-available", "nginx/sites-enabled", "systemd/system"):
            (folder / "etc" / name).mkdir(parents=True)
        for name in ("programs", "deploy", "usr/local/bin"):
            (folder / name).mkdir(parents=True)
        (folder / "etc/redis/redis.conf").write_text("port 6379\n")
        self.pgbouncer.write_text("[databases]\n;; foodb = host=127.0.0.1\n\n[pgbouncer]\nlisten_port = 6432\n")
        for file in DEPLOY.rglob("*"):
            if file.is_file():
                (copy := folder / "deploy" / file.relative_to(DEPLOY)).parent.mkdir(exist_ok=True)
                text = re.sub(r"(?<![\w.])/(etc|var|opt|usr/local)/", rf"{folder}/\1/", file.read_text())
                copy.write_text(text)
        scripts = {name: f'echo {name} "$@" >> "$HERE/ran"\n{script}\n' for name, script in STAND_INS.items()}
        for name, script in {**scripts, "install": INSTALL}.items():
            (program := folder / "programs" / name).write_text(f"#!/bin/sh\n{script}")
            program.chmod(0o755)

    @property
    def pgbouncer(self) -> Path:
        return self.folder / "etc/pgbouncer/pgbouncer.ini"

    @property
    def environment(self) -> Path:
        return self.folder / "etc/docs-service/environment"

    def run(self, script: str = "set-up.sh", *words: str) -> tuple[subprocess.CompletedProcess[str], list[str]]:
        """Run a script. Returns how it ended, and the programs that it ran with their arguments."""
        (self.folder / "ran").write_text("")
        result = subprocess.run(
            ["sh", str(self.folder / "deploy" / script), *(words or ("docs.acme.example",))],
            env={"PATH": f"{self.folder}/programs:{os.environ['PATH']}", "HERE": str(self.folder)},
            capture_output=True,
            text=True,
            check=False,
        )
        return result, (self.folder / "ran").read_text().splitlines()


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_a_second_run_leaves_a_database_that_has_moved(machine: Machine) -> None:
    result, ran = machine.run()
    assert result.returncode == 0, result.stderr
    assert {"systemctl start postgresql", "systemctl restart pgbouncer"} <= set(ran)
    assert "host=127.0.0.1" in machine.pgbouncer.read_text()
    result, ran = machine.run()
    assert "systemctl start postgresql" in ran, "the same database"
    assert "systemctl restart pgbouncer" not in ran, "nothing has changed"

    settings = machine.environment.read_text()
    machine.environment.write_text(re.sub(r"postgres://.*", 'postgres://docs:new@db.internal/docs"', settings))
    machine.pgbouncer.write_text("[databases]\ndocs = host=db.internal dbname=docs\n")
    users = machine.pgbouncer.with_name("userlist.txt")
    users.write_text('"docs" "new"\n')
    result, ran = machine.run()
    assert result.returncode == 0, result.stderr
    assert "stay as they are" in result.stdout
    assert not [line for line in ran if line.startswith("runuser") or "postgresql" in line or "pgbouncer" in line]
    assert "host=db.internal" in machine.pgbouncer.read_text()
    assert users.read_text() == '"docs" "new"\n'
    assert "systemctl reload-or-restart nginx" in ran, "the rest goes on"


@pytest.mark.parametrize(
    ("databases", "keyspace", "sentence"),
    [
        ("[databases]\nshop = host=10.0.0.5\n[pgbouncer]\n", "", "PgBouncer serves another program"),
        ("; ours\n [databases]\n\n;; a = b\n  * = host=/run\n", "", "PgBouncer serves another program"),
        ("", "# Keyspace\r\ndb3:keys=12,expires=0,avg_ttl=0\r\n", "Redis serves another program"),
        ("", "NOAUTH Authentication required.\n", "Redis serves another program"),
        ("", "# Keyspace\r\n", ""),
        ("[databases]\n# shop = host=10.0.0.5\n[pgbouncer]\nlisten_port = 6432\n[users]\na = b\n", "", ""),
        ((DEPLOY / "pgbouncer.ini").read_text(), "", ""),
    ],
)
def test_it_takes_nothing_from_another_program(machine: Machine, databases: str, keyspace: str, sentence: str) -> None:
    machine.pgbouncer.write_text(databases)
    (machine.folder / "keyspace").write_text(keyspace)
    result, ran = machine.run()
    if not sentence:
        assert result.returncode == 0, result.stderr
        return
    assert result.returncode == 1
    assert sentence in result.stderr
    assert not [line for line in ran if not line.startswith("redis-cli")]
    assert machine.pgbouncer.read_text() == databases
    assert not machine.environment.exists()


def test_its_own_redis_does_not_stop_it(machine: Machine) -> None:
    machine.run()
    (machine.folder / "keyspace").write_text("NOAUTH Authentication required.\n")
    assert machine.run()[0].returncode == 0
    machine.environment.unlink()  # as after a removal of the service
    assert machine.run()[0].returncode == 0


def test_commands_know_the_way_of_the_processes(machine: Machine) -> None:
    machine.run()
    (machine.folder / "var/lib/docs-service").mkdir(parents=True, exist_ok=True)
    (machine.folder / "programs/runuser").write_text('#!/bin/sh\necho "$DATABASE_URL $POOL_DATABASE_URL"\n')
    result, _ = machine.run("docs-service", "doctor")
    own, pool = result.stdout.split()
    assert own.endswith("@127.0.0.1:5432/docs")
    assert pool.endswith("@127.0.0.1:6432/docs")
