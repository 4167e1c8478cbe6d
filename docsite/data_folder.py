"""The folder of the service's data: created for its owner alone, with the database and the signing key in it."""

import contextlib
import os
import secrets
import sys
from pathlib import Path

from docsite.env import Env
from docsite.private_files import restrict


def find_user_folder() -> Path:
    """Where an installed package keeps data, whichever folder a command runs in (XDG Base Directory Specification)."""
    home = "~/Library/Application Support" if sys.platform == "darwin" else os.environ.get("XDG_DATA_HOME")
    return Path(home or "~/.local/share").expanduser() / "docs-service"


def prepare_data_dir(env: Env, base: Path) -> Path:
    """Create the folder of the service's data if it is missing, and return it. A relative path begins at `base`.

    Only its owner can enter it, unless it contains the code, too. Ends the process with a sentence if the folder
    cannot be written.
    """
    env.data_dir = base / env.data_dir
    try:
        env.data_dir.mkdir(parents=True, exist_ok=True)
        if not base.is_relative_to(env.data_dir.resolve()):
            restrict(env.data_dir, 0o700)
    except OSError as failure:
        raise SystemExit(
            f"DATA_DIR: {env.data_dir} cannot be created ({failure.strerror}). Choose another folder."
        ) from None
    if not os.access(env.data_dir, os.W_OK):
        raise SystemExit(f"DATA_DIR: {env.data_dir} cannot be written. Choose another folder, or change its owner.")
    return env.data_dir


def secret_key(env: Env) -> str:
    """The configured signing key, or one that is created on first use and stored beside the database."""
    if env.secret_key:
        return env.secret_key
    file = env.data_dir / "secret_key"
    if not file.exists():
        draft = file.with_name(f"secret_key.{os.getpid()}")
        draft.touch(mode=0o600)
        draft.write_text(secrets.token_urlsafe(48))
        with contextlib.suppress(FileExistsError):  # another process was first: its key is used
            os.link(draft, file)
        draft.unlink()
    return file.read_text()
