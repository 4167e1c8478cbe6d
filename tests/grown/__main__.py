"""`make grown`: start the profile, print its addresses, start again what ends, and end all of it at Ctrl+C."""

import signal
import sys
import time

from tests.grown.profile import Profile
from tests.processes import ROOT

RESTART_SECONDS = 2.0  # as in the units of systemd


def main() -> None:
    """Run until Ctrl+C or SIGTERM."""
    for number in (signal.SIGINT, signal.SIGTERM):  # a shell's background jobs ignore the first
        signal.signal(number, signal.default_int_handler)
    began = time.monotonic()
    profile = Profile()
    try:
        _say(f"Starting in {profile.folder} …")
        profile.start()
        _describe(profile, time.monotonic() - began)
        while True:
            time.sleep(RESTART_SECONDS)
            _restart(profile)
    except KeyboardInterrupt:
        _say("\nStopping …")
    finally:
        profile.end()
    _say("All parts have ended, and their folder is removed.")


def _describe(profile: Profile, seconds: float) -> None:
    for part in profile.parts.values():
        _say(f"  {part.name:<12} {part.address:<16} process {part.pid}")
    settings = profile.folder / "environment"
    names = ("ALLOWED_HOSTS", "TRUSTED_PROXIES", "SECRET_KEY", "DATA_DIR", "DATABASE_URL", "REDIS_URL", "VIEW_LOG_URL")
    settings.touch(mode=0o600)
    settings.write_text("".join(f"export {name}='{profile.commands[name]}'\n" for name in names))
    _say(
        f"Ready after {seconds:.0f} seconds: {profile.url}/ (with a certificate of its own: curl --insecure).\n"
        f"  is it ready   curl --insecure {profile.url}/health/ready\n"
        f"  commands      cd {ROOT}; . {settings}; .venv/bin/python manage.py doctor\n"
        f"  logs          {profile.folder}/PART/log\n"
        "  kill a part   kill -9 PROCESS (it is started again; in place of the primary, the standby is promoted)\n"
        "  stop          Ctrl+C"
    )


def _restart(profile: Profile) -> None:
    """Start what has ended. If it is the primary, do what a program for failover does."""
    for name in [name for name, part in profile.parts.items() if not part.is_running]:
        if name == profile.primary:
            profile.promote()
            _say(f"{name} had ended. {profile.primary} is the primary now.")
            profile.rebuild_standby()
        else:
            profile.parts[name].start()
        _say(f"{name} runs again as process {profile.parts[name].pid}.")


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
