/** Finds out whether a node can run on this machine before anything is built for it. */
import type { ContainerRuntime } from './container-runtime.ts'
import { RealNodeError, UnsupportedMachineError } from './errors.ts'
import { runInSandbox } from './sandbox.ts'

/** What containers, CNI plugins and kube-proxy need of the kernel; the last line that is printed names what failed. */
const PROBE = `
set -ex
cd "$TMPDIR"
ip link add probe0 type bridge
mkdir lower upper work merged
mount -t overlay -o lowerdir=lower,upperdir=upper,workdir=work overlay merged
iptables -t nat -A POSTROUTING -m comment --comment probe -m mark --mark 1 -j MASQUERADE
iptables -t nat -A PREROUTING -p tcp -m addrtype --dst-type LOCAL -m statistic --mode random --probability 0.5 \\
  -j DNAT --to-destination 10.88.0.1:1
iptables -A FORWARD -m conntrack --ctstate INVALID -j DROP
`

/**
 * Tries whether the machine permits what a node needs: a container may run as root without being allowed to mount.
 *
 * *Errors*: `UnsupportedMachineError`, after what failed was printed.
 */
export async function assertSandbox(runtime: ContainerRuntime, signal: AbortSignal): Promise<void> {
  const env = { ...process.env, ...runtime.env }
  const quiet = 'sh -c "$1" >"$TMPDIR/printed" 2>&1 || { cat "$TMPDIR/printed"; exit 1; }'
  const code = await runInSandbox(['sh', '-c', quiet, 'sh', PROBE], { env, signal }).catch((error: unknown) => {
    if (error instanceof RealNodeError) return error.code
    throw error
  })
  if (code === 0) return
  const remedy = 'In a container, run it with all privileges, or use a virtual machine.'
  throw new UnsupportedMachineError(
    `Namespaces, mounts, network interfaces, firewall rules or cgroups cannot be created. ${remedy}`,
  )
}
