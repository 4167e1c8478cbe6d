"""E-mail to a mail server that wants a log-in over TLS, as those of providers do."""

import ssl
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address

import pytest
from aiosmtpd.smtp import AuthResult
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from docsite.core.delivery import mail, sending
from docsite.core.delivery.messages import DeliveryError, Email
from tests.receivers import serve_mail

LETTER = Email(["owner@acme.example"], "Subject", "Text", html="<p>Text</p>")
USER, PASSWORD = "docs@acme.example", "p:w/%"


@pytest.fixture
def certificate(tmp_path):
    """A certificate of its own authority for 127.0.0.1, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "mail.acme.example")])
    now = datetime.now(UTC)
    built = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = tmp_path / "certificate.pem"
    pem = serialization.PrivateFormat.PKCS8
    file.write_bytes(
        built.public_bytes(serialization.Encoding.PEM)
        + key.private_bytes(serialization.Encoding.PEM, pem, serialization.NoEncryption())
    )
    return file


@pytest.fixture
def server(certificate, settings):
    """A mail server that takes mail only after STARTTLS and a log-in."""

    def check(server, session, envelope, mechanism, data):
        is_known = (data.login, data.password) == (USER.encode(), PASSWORD.encode())
        return AuthResult(success=is_known, handled=False)

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with serve_mail(tls_context=context, require_starttls=True, authenticator=check, auth_required=True) as server:
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", int(server.url.rpartition(":")[2])
        settings.EMAIL_USE_TLS, settings.EMAIL_HOST_USER, settings.EMAIL_HOST_PASSWORD = True, USER, PASSWORD
        yield server


def test_a_log_in_over_tls_sends_text_and_html(server, certificate, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    assert mail.send(LETTER, "dlv_1") == "The mail server accepted it."
    (letter,) = server.mail
    assert [part.get_content_type() for part in letter.iter_parts()] == ["text/plain", "text/html"]


def test_a_wrong_password_is_named_and_not_shown(server, certificate, monkeypatch, settings):
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    settings.EMAIL_HOST_PASSWORD = "wrong"
    with pytest.raises(DeliveryError, match="answered 535") as failure:
        mail.send(LETTER, "dlv_1")
    assert "wrong" not in str(failure.value)


def test_a_server_with_a_certificate_of_nobody_gets_no_password(server):
    with pytest.raises(DeliveryError, match="SSLCertVerificationError"):
        mail.send(LETTER, "dlv_1")
    assert server.mail == []


def test_what_is_sent_past_the_outbox_reports_a_refusal_and_logs_no_address(server, caplog):
    succeeded, sentence = sending.try_to_send(LETTER, "a.test")
    assert not succeeded
    assert "SSLCertVerificationError" in sentence
    assert "a.test" in caplog.text
    assert not any(address in caplog.text for address in LETTER.to)
