#!/bin/sh
# The first process of the sandbox: prepares its namespaces, runs a command in them and exits with its code. Everything
# that is changed here exists only in the mount and network namespace of this process.
#
# usage: enter-sandbox.sh <folder> <node address> <command> [<argument>…]
set -eu
folder=$1 address=$2
shift 2
PATH=$PATH:/usr/sbin:/sbin

# Folders that kubelet, containerd and agents write to; the rest of the machine is read-only.
for name in var run opt tmp; do mkdir -p "$folder/$name"; done
mkdir -p "$folder/var/lib" "$folder/var/log" "$folder/var/tmp" "$folder/var/cache"
ln -sfn /run "$folder/var/run"
mount --bind "$folder" "$folder"
if [ -n "${REEVE_REAL_NODE_LOGS:-}" ]; then mount --bind "$REEVE_REAL_NODE_LOGS" "$REEVE_REAL_NODE_LOGS"; fi
for name in var run opt; do mount --bind "$folder/$name" "/$name"; done
# What test runners write beside the packages of the repository is discarded.
if [ -n "${REEVE_NODE_MODULES:-}" ]; then
  mkdir -p "$folder/modules" "$folder/modules-work"
  mount -t overlay -o "lowerdir=$REEVE_NODE_MODULES,upperdir=$folder/modules,workdir=$folder/modules-work" \
    overlay "$REEVE_NODE_MODULES"
fi
mount -o remount,bind,ro /

# The kubelet sets these for the whole machine unless they have the values it wants.
while read -r setting value; do
  [ -e "/proc/sys/$setting" ] || continue
  echo "$value" >"$folder/$(basename "$setting")"
  mount --bind "$folder/$(basename "$setting")" "/proc/sys/$setting"
done <<SETTINGS
vm/overcommit_memory 1
vm/panic_on_oom 0
kernel/panic 10
kernel/panic_on_oops 1
kernel/keys/root_maxkeys 1000000
kernel/keys/root_maxbytes 25000000
SETTINGS

# Mounts of containers with Bidirectional propagation reach the kubelet.
mount --make-rshared /

ip link set lo up
ip link add node0 type veth peer name node0-peer
ip address add "$address/24" dev node0
ip link set node0 up
ip link set node0-peer up
# Addresses of Services are rewritten after a route has been found for them.
ip route add default dev node0
echo 1 >/proc/sys/net/ipv4/ip_forward
# Without it, responses between pods on the same bridge bypass the rewriting of addresses.
bridge=/proc/sys/net/bridge/bridge-nf-call-iptables
if [ -e $bridge ]; then echo 1 >$bridge; fi

export TMPDIR="$folder/tmp"
# Not exec: this shell stays to reap the processes that containers leave behind.
"$@" &
wait $!
