#!/bin/bash
# The life of the server's package under systemd: /walk/first.deb, then /walk/later.deb. Prints what the test compares.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C SYSTEMD_PAGER='' SERVICE_SERVER_URL=http://127.0.0.1:7100
export SERVICE_ORG=acme SERVICE_PROJECT=webshop SERVICE_ENV=dev
cd /root || exit 1
note() { printf '%s: %s\n' "$1" "$(printf '%s ' "${@:2}" | sed 's/ *$//')"; }
state() { systemctl show --property="$1" --value coffer; }
main() { state MainPID; }
coffer() { /usr/lib/coffer-server/bin/coffer "$@"; }
package() { dpkg --force-confold "$@" > /walk/dpkg 2>&1 || cat /walk/dpkg; }
# Waits until the server listens.
ready() { for _ in {1..600}; do (exec 3<> /dev/tcp/127.0.0.1/7100) 2> /dev/null && return; sleep 0.1; done; echo "not listening"; }
# Waits for the end of a server that cannot start.
ended() { for _ in {1..600}; do [[ $(state ActiveState) == failed ]] && return; sleep 0.1; done; echo "not failed"; }

package -i /walk/first.deb
note installed "$(state ActiveState)" "$(state UnitFileState)"
systemctl enable --now coffer 2> /dev/null
ended
sleep 3
note unset "$(state ActiveState)" "$(state ExecMainStatus)" "$(state NRestarts)"

(set -C; umask 027; od -An -N32 -tx1 /dev/urandom | tr -d ' \n' > /etc/coffer/master.key && chgrp coffer /etc/coffer/master.key)
printf 'SMTP_HOST=log\nSUPERADMIN_EMAIL_0=ada@example.com\n' >> /etc/coffer/coffer.env
systemctl enable --now coffer
ready
note started "$(state ActiveState)" "$(state UnitFileState)"
note exposure "$(systemd-analyze security coffer | sed -n 's/.*exposure level.*: \([0-9.]*\) .*/\1/p')"
note process "$(grep -E '^(CapEff|NoNewPrivs|Seccomp):' "/proc/$(main)/status" | tr -s '\n\t' ' ')"
note writable "$(nsenter -t "$(main)" -m sh -c 'for one in /etc /usr /root /var/lib /var/lib/coffer; do test -w $one && echo $one; done')"

(
  set -e
  umask 077
  systemctl stop coffer
  setpriv --reuid coffer --regid coffer --clear-groups env SERVICE_MASTER_KEY_FILE=/etc/coffer/master.key \
    SERVICE_DB_PATH=/var/lib/coffer/service.db coffer-server session ada@example.com > ada.token
  systemctl start coffer
)
ready
coffer login --token - < ada.token > /dev/null
coffer org create acme > /dev/null
coffer project create webshop --org acme > /dev/null
printf k-8c1f-value | coffer secret set API_KEY > /dev/null

writes() { for ((n = 1; ; n++)); do [[ -e stop ]] && return; printf 'w-%s' $n | coffer secret set COUNT > /dev/null 2>&1 && echo w-$n > acknowledged; done; }
: > acknowledged
writes &
for _ in 1 2; do
  sleep 3
  before=$(main)
  systemctl restart coffer
  ready
  [[ $before != "$(main)" ]] || echo "not restarted"
done
sleep 2
touch stop
wait
note lost "$([[ $(coffer secret get COUNT) == "$(cat acknowledged)" && -s acknowledged ]] && echo no)"

before=$(main)
kill -KILL "$before"
while [[ $(main) == "$before" || $(main) == 0 ]]; do sleep 0.1; done
ready
note killed "$(state ActiveState)" "$(coffer secret get API_KEY)"

before=$(main)
package -i /walk/later.deb
ready
note upgraded "$(state ActiveState)" "$([[ $before != "$(main)" ]] && echo again)" "$(coffer secret get API_KEY)"
systemctl stop coffer
note stopped "$(state Result)" "$(state ExecMainStatus)"
package -i /walk/later.deb
note stays "$(state ActiveState)"

systemctl start coffer
ready
package -r coffer-server
note removed "$(state LoadState)" "$(main)" "$(ls /etc/systemd/system/multi-user.target.wants | grep coffer)"
package -i /walk/later.deb
note hint "$(grep 'by itself' /walk/dpkg)"
systemctl enable --now coffer 2> /dev/null
ready
note back "$(coffer secret get API_KEY)"
package -P coffer-server
note purged "$(state LoadState)" "$(ls -d /etc/coffer /var/lib/coffer 2> /dev/null)" "$(getent passwd coffer)"
note values "$(journalctl -o cat | grep -c k-8c1f-value)"
note complaints "$(journalctl -o cat -t coffer-server | grep -iE '"level":"(warn|error)|^\s+at |Assertion')"
