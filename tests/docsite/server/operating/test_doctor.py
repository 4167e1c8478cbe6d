"""`manage.py doctor` says what does not work, and what to do about it."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.utils import timezone

from docsite.core.components import Finding
from docsite.core.notifications.models import Alert, Routine
from docsite.extras.doctor import service
from tests import scenarios
from tests.ports import free_port


@pytest.mark.matrix
def test_a_set_up_with_nothing_but_faults_is_described(tmp_path: Path) -> None:
    port = free_port()
    result = scenarios.complete(
        "doctor",
        DATABASE_URL="",
        DATA_DIR=str(tmp_path),
        REDIS_URL=f"redis://127.0.0.1:{port}/0",
        OPENAI_BASE_URL=f"http://127.0.0.1:{port}/v1",
        OPENAI_MODEL="acme-1",
        EMAIL_URL=f"smtp://127.0.0.1:{port}",
        EMAIL_FROM="docs@acme.example",
        ALLOWED_HOSTS="docs.acme.example",
    )
    assert result.returncode == 1, result.stderr
    lines = result.stdout.splitlines()
    assert [line.split(":")[0] for line in lines if line.startswith("✗") and "Clock" not in line] == [
        "✗ Settings",
        "✗ Database",
        "✗ Redis",
        "✗ Mail",
        "✗ Model",
    ]
    assert "  → Run: manage.py migrate" in lines
    assert all(lines[at + 1].startswith("  → ") for at, line in enumerate(lines) if line.startswith("✗"))


def test_each_check_of_the_service_says_what_to_do(db: Any, settings: Any, tmp_path: Path) -> None:
    users, now = get_user_model().objects, timezone.now()
    users.update(is_superuser=False)
    assert service.check_accounts().advice.startswith("Run: manage.py createsuperuser")
    users.create(username="somebody", is_superuser=True, is_active=False)
    assert service.check_accounts().advice
    users.create(username="owner", is_superuser=True)
    assert service.check_accounts() == Finding("Accounts", "1 active superuser")

    Routine.objects.all().delete()
    assert service.check_background() == Finding("Background work", "has not run yet")
    Routine.objects.create(name="sweep", due_at=now + timedelta(hours=1))
    assert service.check_background() == Finding("Background work", "is on time")
    Routine.objects.create(name="alerts", due_at=now - timedelta(minutes=90, seconds=1))
    late = service.check_background()
    assert late.fact == "“alerts” is late by 90 minutes"
    assert "Is a process serving?" in late.advice

    Alert.objects.all().delete()
    assert service.check_alerts() == Finding("Alerts", "none is open")
    for number in range(4):
        Alert.objects.create(topic="disk", cause=f"cause {number}", title=f"Alert {number}", path="/x", opened_at=now)
    assert service.check_alerts().fact.endswith("and 1 more")
    Alert.objects.update(cleared_at=now)
    assert not service.check_alerts().advice

    assert not service.check_release().advice
    settings.WIDGET_DIST = tmp_path
    assert service.check_release().advice == "Build them: make widget"


@pytest.mark.slow
def test_a_working_set_up_has_nothing_to_do(tmp_path: Path, copy_database: Any) -> None:
    result = scenarios.complete("doctor", **copy_database(tmp_path))
    faults = [line for line in result.stdout.splitlines() if line.startswith("✗") and "Clock" not in line]
    assert faults == ["✗ Accounts: there is no active superuser."], result.stdout
    assert "answers and can be written" in result.stdout
    assert "0 wait to be counted" in result.stdout
