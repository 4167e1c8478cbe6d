#!/bin/sh
# Becomes one part of the profile `grown`: sh part.sh postgresql|pgbouncer|redis|sentinel|nats|nginx
#
# `make grown` and the containers of compose.yaml run it, with these variables:
#   FOLDER   what the part keeps; a new start goes on with it
#   LISTEN   the address that it binds, with PORT
#   HOST     the name by which the others reach it
#   PASSWORD of the user `docs` of PostgreSQL, Redis or NATS
#   WORKER   whom the processes of nginx run as; else as this script
#   FOLLOWS  host:port of the primary; empty for the primary itself, and for Sentinel the one to begin with
#   SERVERS  host:port of the parts behind it (PgBouncer: one, nginx: two with a comma) or beside it (NATS: all three)
set -eu
umask 077
here=$(dirname "$(readlink -f "$0")")
for programs in /usr/lib/postgresql/*/bin; do PATH="$programs:$PATH"; done
PATH="$PATH:/usr/sbin"
cd "$FOLDER"
[ "$1" = nginx ] || : "${PASSWORD:?}"

# Writes a file with the values of the variables: fill_in TEMPLATE FILE
fill_in() {
    # Passwords go by standard input, since every user of the machine sees the arguments of commands.
    sed -f /dev/stdin "$1" >"$2.new" <<END
s|@FOLDER@|$FOLDER|g
s|@LISTEN@|$LISTEN|g
s|@PORT@|$PORT|g
s|@HOST@|${HOST-}|g
s|@PASSWORD@|${PASSWORD-}|g
s|@PRIMARY@|$(echo "${FOLLOWS-}" | tr : ' ')|g
$3
END
    mv "$2.new" "$2"
}

case $1 in
postgresql)
    if [ ! -e data ]; then
        rm -rf new
        if [ -n "${FOLLOWS-}" ]; then
            until PGPASSWORD="$PASSWORD" pg_basebackup --pgdata new --write-recovery-conf --checkpoint fast \
                --dbname "postgres://docs@$FOLLOWS/postgres?application_name=$HOST"; do
                rm -rf new
                sleep 1
            done
            # When it is promoted, it waits for no standby: there is none yet.
            echo "synchronous_standby_names = ''" >>new/postgresql.auto.conf
        else
            printf '%s\n' "$PASSWORD" >password
            initdb --pgdata new --username docs --pwfile password --encoding UTF8 --locale C.UTF-8 --auth scram-sha-256 >init.log
            echo 'CREATE DATABASE docs' | postgres --single -D new postgres >>init.log
            # From now on a commit waits for the standby.
            echo "synchronous_standby_names = '*'" >>new/postgresql.auto.conf
            rm password
        fi
        mv new data
    fi
    exec postgres -D data -h "$LISTEN" -p "$PORT" -k "$FOLDER" \
        -c config_file="$here/postgresql.conf" -c hba_file="$here/pg_hba.conf"
    ;;
pgbouncer)
    printf '"docs" "%s"\n' "$PASSWORD" >userlist.txt
    fill_in "$here/../pgbouncer.ini" pgbouncer.ini "
        s|host=127.0.0.1 port=5432|host=${SERVERS%:*} port=${SERVERS#*:}|
        s|^listen_addr = .*|listen_addr = $LISTEN|
        s|^listen_port = .*|listen_port = $PORT|
        s|^auth_file = .*|auth_file = $FOLDER/userlist.txt|
        /^logfile = /d
        /^pidfile = /d"
    exec pgbouncer -q pgbouncer.ini
    ;;
redis)
    if [ ! -e redis.conf ]; then # Sentinel writes into it who follows whom
        fill_in "$here/../redis.conf" redis.conf "s|@REDIS_PASSWORD@|$PASSWORD|
            s|^bind .*|bind $LISTEN|"
        cat >>redis.conf <<END
port $PORT
masterauth $PASSWORD
replica-announce-ip $HOST
repl-diskless-sync-delay 0
${FOLLOWS:+replicaof ${FOLLOWS%:*} ${FOLLOWS#*:}}
END
    fi
    exec redis-server redis.conf
    ;;
sentinel)
    [ -e sentinel.conf ] || fill_in "$here/sentinel.conf" sentinel.conf ""
    exec redis-server sentinel.conf --sentinel
    ;;
nats)
    routes=$(echo "$SERVERS" | sed "s|[^,]*|\"nats://docs:$PASSWORD@&\"|g")
    fill_in "$here/nats.conf" nats.conf "s|@CLUSTER_PORT@|$CLUSTER_PORT|
        s|@ROUTES@|$routes|"
    exec nats-server --config nats.conf
    ;;
nginx)
    if [ ! -e tls/fullchain.pem ]; then
        mkdir -p tls
        openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 90 -subj "/CN=$HOST" \
            -keyout tls/privkey.pem -out tls/fullchain.pem 2>/dev/null
    fi
    fill_in "$here/../nginx.conf" site.conf "s|docs-service\\.example\\.com|$HOST|g
        /listen \\[::\\]/d
        s|listen 80;|listen $LISTEN:$HTTP_PORT;|
        s|listen 443 |listen $LISTEN:$PORT |
        s|127\\.0\\.0\\.1:8000|${SERVERS%,*}|
        s|127\\.0\\.0\\.1:8001|${SERVERS#*,}|
        s|/etc/docs-service/tls|$FOLDER/tls|
        s|/var/log/nginx/docs-service.log|/dev/stdout|
        s|/var/log/nginx/docs-service-error.log|/dev/stderr|"
    fill_in "$here/nginx-main.conf" nginx.conf "s|@USER@|${WORKER:-$(id -un)}|"
    exec nginx -p "$FOLDER" -c "$FOLDER/nginx.conf" -e stderr
    ;;
*)
    echo "There is no part $1." >&2
    exit 1
    ;;
esac
