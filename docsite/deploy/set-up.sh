#!/bin/sh
# Prepares a Debian or Ubuntu machine for the documentation service: sudo sh set-up.sh docs-service.example.com
#
# It adds a user, passwords, settings, units, the database, and the site of nginx. It starts nothing of the service.
# Run it again after an upgrade: settings and passwords stay as they are, units and the site are written anew, and the
# database and PgBouncer are left alone if the settings name another database.
set -eu
umask 077
domain=${1:?Name the domain of the service: sudo sh set-up.sh docs-service.example.com}
here=$(dirname "$(readlink -f "$0")")
etc=/etc/docs-service

random() { openssl rand -hex 24; }

# Writes a file with the domain and the passwords: fill_in TEMPLATE FILE MODE OWNER. `changed` is empty if it was so before.
fill_in() {
    # Passwords go by standard input, since every user of the machine sees the arguments of commands.
    content=$(
        sed -f /dev/stdin "$here/$1" <<EOF
s/docs-service\\.example\\.com/$domain/g
s/@SECRET_KEY@/${secret_key-}/
s/@METRICS_TOKEN@/$metrics_token/
s/@DATABASE_PASSWORD@/$database_password/
s/@REDIS_PASSWORD@/$redis_password/
EOF
    )
    changed=""
    printf '%s\n' "$content" | cmp -s - "$2" || changed=yes
    printf '%s\n' "$content" | install -D -m "$3" -o "$4" -g "$4" /dev/stdin "$2"
}

stop() {
    echo "$1 Nothing has been changed. Use another machine, or follow “As a package” of the deployment page." >&2
    exit 1
}

# Before the first run: the connection pool and Redis become ours, so nobody else may use them.
if [ ! -e "$etc/environment" ]; then
    ini=/etc/pgbouncer/pgbouncer.ini
    if ! grep -q 'shared by all processes of the service' $ini &&
        awk '/^[ \t]*\[/ { inside = /\[databases\]/; next } inside && /^[ \t]*[^ \t;#]/ { n++ } END { exit !n }' $ini; then
        stop "PgBouncer serves another program: $ini has databases."
    fi
    if ! grep -q '^include /etc/redis/docs-service.conf' /etc/redis/redis.conf; then
        case $(redis-cli info keyspace 2>&1) in
        *db[0-9]*:keys=* | *NOAUTH*) stop "Redis serves another program: it has keys, or a password." ;;
        esac
    fi
fi

id docs >/dev/null 2>&1 ||
    useradd --system --user-group --no-create-home --home-dir /var/lib/docs-service --shell /usr/sbin/nologin docs
install -d -m 700 -o docs -g docs /var/lib/docs-service /var/backups/docs-service
install -d -m 755 "$etc" /opt/docs-service
install -d -m 700 "$etc/tls"

# Passwords, once. Each is a file, so that this script can run again.
for name in database_password redis_password metrics_token; do
    [ -s "$etc/$name" ] || random >"$etc/$name"
done
database_password=$(cat "$etc/database_password")
redis_password=$(cat "$etc/redis_password")
metrics_token=$(cat "$etc/metrics_token")
if [ ! -e "$etc/environment" ]; then
    secret_key=$(random)
    fill_in environment.pool "$etc/environment.pool" 600 root
    fill_in environment "$etc/environment" 600 root
fi

install -m 755 "$here/docs-service" /usr/local/bin/docs-service
install -m 644 "$here"/systemd/*.service /etc/systemd/system/
systemctl daemon-reload

# PostgreSQL: a role and a database of its own. PgBouncer: the same role. Not after data has moved elsewhere: the
# processes would go on with the old database.
case $(. "$etc/environment" && printf %s "${DATABASE_URL-}") in
"postgres://docs:$database_password@"127.0.0.1:5432/docs | "postgres://docs:$database_password@"localhost:5432/docs)
    systemctl start postgresql
    database_password=$database_password runuser -u postgres -- psql --quiet --no-psqlrc --set ON_ERROR_STOP=1 <<'SQL'
\cd /
\getenv password database_password
SELECT 'CREATE ROLE docs LOGIN' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'docs') \gexec
ALTER ROLE docs PASSWORD :'password';
SELECT 'CREATE DATABASE docs OWNER docs ENCODING ''UTF8'' TEMPLATE template0'
    WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = 'docs') \gexec
SQL
    printf '"docs" "%s"\n' "$database_password" |
        install -m 640 -o postgres -g postgres /dev/stdin /etc/pgbouncer/userlist.txt
    fill_in pgbouncer.ini /etc/pgbouncer/pgbouncer.ini 640 postgres
    [ -z "$changed" ] || systemctl restart pgbouncer
    ;;
*) echo "PostgreSQL and PgBouncer here stay as they are: DATABASE_URL in $etc/environment names another database." ;;
esac

# Redis: a password and no files
grep -q '^include /etc/redis/docs-service.conf' /etc/redis/redis.conf ||
    echo 'include /etc/redis/docs-service.conf' >>/etc/redis/redis.conf
fill_in redis.conf /etc/redis/docs-service.conf 640 redis
[ -z "$changed" ] || systemctl restart redis-server

# nginx: the site, with a certificate of our own until there is a real one
if [ ! -e "$etc/tls/fullchain.pem" ]; then
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 90 -subj "/CN=$domain" \
        -addext "subjectAltName=DNS:$domain" -keyout "$etc/tls/privkey.pem" -out "$etc/tls/fullchain.pem" 2>/dev/null
fi
fill_in nginx.conf /etc/nginx/sites-available/docs-service 644 root
ln -sf ../sites-available/docs-service /etc/nginx/sites-enabled/docs-service
nginx -t -q
systemctl reload-or-restart nginx

# Prometheus, if it is here: the token and the alerts
if [ -d /etc/prometheus ]; then
    printf %s "$metrics_token" |
        install -m 640 -o root -g prometheus /dev/stdin /etc/prometheus/docs-service-token
    fill_in alerts.yml /etc/prometheus/docs-service-alerts.yml 644 root
fi
echo "Ready. Settings: $etc/environment. Next: sudo docs-service migrate"
