#!/bin/sh
# Runs the commands of the section “A server” of the deployment page, up to “Certificate”, on this machine.
#
# It runs as root in namespaces of its own: files, processes and the network of the machine stay as they are.
# It needs the packages that the page installs, a folder of Python packages (WHEELS), and a built widget.
# tests/deployment/trial.sh WHEELS
set -eu
wheels=$(readlink -f "$1")
root=$(readlink -f "$(dirname "$0")/../..")
if [ -z "${DOCS_TRIAL-}" ]; then
    DOCS_TRIAL=1 exec unshare --mount --net --pid --fork --mount-proc --kill-child sh "$0" "$wheels"
fi

# Everything that is written goes to memory.
work=/mnt
mount -t tmpfs tmpfs $work
for folder in /etc /opt /var /usr/local /home; do
    name=$(echo "$folder" | tr / _)
    mkdir -p "$work/$name/upper" "$work/$name/work"
    mount -t overlay overlay -o "lowerdir=$folder,upperdir=$work/$name/upper,workdir=$work/$name/work" "$folder"
done
mkdir "$work/seed"
cp -a "$wheels" "$work/seed/wheels"
mkdir "$work/seed/code"
git -C "$root" ls-files --cached --others --exclude-standard -z | tar -C "$root" -c --null -T - | tar -x -C "$work/seed/code"
cp -a "$root/static/widget/dist" "$work/seed/code/static/widget/dist"
root="$work/seed/code" # it may have been below /tmp
mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs /tmp
chmod 1777 /tmp
mkdir -p /run/postgresql /run/redis
chown postgres:postgres /run/postgresql
chown redis:redis /run/redis
chmod 755 $work $work/seed
ip link set lo up 2>/dev/null || python3 -c "
import fcntl, socket, struct
link = socket.socket()
fcntl.ioctl(link, 0x8914, struct.pack('16sh14x', b'lo', 0x1 | 0x40))"
echo "127.0.0.1 docs-service.example.com" >> /etc/hosts
rm -f /etc/nginx/sites-enabled/default.bak

# A person with an empty home, who may use sudo.
mkdir -p /usr/local/bin /usr/local/trial
useradd --create-home olu
cp "$root/tests/deployment/systemctl.py" /usr/local/trial/systemctl
printf '#!/bin/sh\nexit 0\n' > /usr/local/trial/apt-get
printf '#!/bin/sh\nfor last; do :; done\ncp -a /mnt/seed/code "$last"\n' > /usr/local/trial/git
printf '#!/bin/sh\nexit 0\n' > /usr/local/trial/make
printf '#!/bin/sh\nexec "$@"\n' > /usr/local/trial/sudo
chmod 755 /usr/local/trial/*
export PATH="/usr/local/trial:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
export HOME=/home/olu PIP_NO_INDEX=1 PIP_FIND_LINKS=/mnt/seed/wheels PIP_DISABLE_PIP_VERSION_CHECK=1
unset PIP_EXTRA_INDEX_URL PIP_INDEX_URL PIP_CONFIG_FILE
rm -f /etc/pip.conf
export DJANGO_SUPERUSER_PASSWORD=correct-horse-battery DJANGO_SUPERUSER_USERNAME=olu DJANGO_SUPERUSER_EMAIL=olu@acme.example

# The blocks of the section, up to its first heading.
/usr/bin/python3 - "$root/docsite/site/content/deployment.md" > /tmp/steps.sh <<'PYTHON'
import pathlib, re, sys
page = pathlib.Path(sys.argv[1]).read_text()
section = page.split("\n## A server\n")[1].split("\n### ")[0]
print("set -eux")
for block in re.findall(r"^```sh\n(.*?)^```", section, re.MULTILINE | re.DOTALL):
    block = block.replace("docs-service createsuperuser", "docs-service createsuperuser --no-input")
    # In a sandbox nothing synchronizes the clock. Anything else that doctor finds ends the trial.
    print(block.replace("sudo docs-service doctor", "sudo docs-service doctor > /tmp/doctor.txt || "
          "[ \"$(grep '^✗' /tmp/doctor.txt | cut -d: -f1)\" = '✗ Clock' ]\ncat /tmp/doctor.txt"))
PYTHON
cd /home/olu
began=$(date +%s)
sh /tmp/steps.sh
echo "All steps took $(($(date +%s) - began)) seconds."

# What an operator then sees.
cd /home/olu/docs-service
ask() { curl -ks -o /dev/null -w '%{http_code} %{redirect_url}\n' "$@"; }
url=https://docs-service.example.com
sleep 20
echo "port 80: $(ask http://docs-service.example.com/quickstart)"
echo "page: $(ask $url/) admin: $(ask $url/admin/login/) widget: $(ask $url/widget.js) metrics: $(ask $url/metrics)"
install -m 644 /etc/docs-service/tls/fullchain.pem /tmp/certificate.pem
SSL_CERT_FILE=/tmp/certificate.pem docs-service doctor --url $url | grep Proxy
echo "ready: $(curl -ks $url/health/ready)"
echo "log of nginx: $(tail -1 /var/log/nginx/docs-service.log)"
echo "connections: $(runuser -u postgres -- psql -Atc "SELECT count(*) FROM pg_stat_activity WHERE usename = 'docs'")"
echo "targets: $(curl -s http://127.0.0.1:9090/api/v1/targets | /usr/bin/python3 -c '
import json, sys
print([(target["scrapeUrl"], target["health"]) for target in json.load(sys.stdin)["data"]["activeTargets"]])')"
echo "restart: requests that failed while restart.sh ran:"
touch /tmp/restarting
(while [ -e /tmp/restarting ]; do ask "$url/health/ready"; sleep 0.05; done) | sort | uniq -c &
asking=$!
sh docsite/deploy/restart.sh 8000 8001
rm /tmp/restarting
wait $asking
docs-service backup /var/backups/docs-service/trial
sh docsite/deploy/set-up.sh docs-service.example.com
tail -n 3 /run/units/*.log
