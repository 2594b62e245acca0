import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { networkInterfaces } from 'node:os'
import { afterEach, describe, expect, it } from 'vitest'
import { remainingCgroups } from '../src/cgroups.ts'
import { eventually } from '../src/eventually.ts'
import { thisMachine, whyNoNode } from '../src/requirements.ts'
import { runInSandbox } from '../src/sandbox.ts'

// Changes everything that a node changes, then tells so and waits to be interrupted.
const CHANGES = `
set -e
echo data >/var/lib/data
echo data >/opt/data
mount -t tmpfs tmpfs /var/lib
ip link add cni0 type bridge
for each in /sys/fs/cgroup/*/$1 /sys/fs/cgroup/$1; do
  [ -d $each ] || continue
  mkdir $each/pod
done
sleep 1000 &
echo $! >/run/started
`

const reason = whyNoNode(thisMachine())

describe.skipIf(reason !== undefined)(`a sandbox${reason ? ` (skipped: ${reason})` : ''}`, () => {
  let folder = ''
  const onFolder = (created: string) => {
    folder = created
  }
  const run = (script: string, signal?: AbortSignal) =>
    // The name of the cgroup is that of the folder, of which TMPDIR is a part.
    runInSandbox(['sh', '-c', `set -- $(basename $(dirname $TMPDIR))\n${script}`], {
      onFolder,
      ...(signal && { signal }),
    })

  afterEach(async () => {
    expect(existsSync(folder)).toBe(false)
    expect(await remainingCgroups(folder.slice(folder.lastIndexOf('/') + 1))).toEqual([])
    expect(await readFile('/proc/self/mounts', 'utf8')).not.toContain(folder)
    expect(Object.keys(networkInterfaces())).not.toContain('cni0')
    expect(existsSync('/opt/data') || existsSync('/var/lib/data')).toBe(false)
  })

  it('returns the exit code of its command and leaves nothing behind', async () => {
    expect(await run(`${CHANGES}\nexit 3`)).toBe(3)
  })

  it('leaves nothing behind when it is interrupted', async () => {
    const interrupted = new AbortController()
    const ended = run(`${CHANGES}\nsleep 1000`, interrupted.signal)
    await eventually('the command runs', () => existsSync(`${folder}/run/started`))
    interrupted.abort()
    await expect(ended).rejects.toThrow('aborted')
  })

  it('has its own network, with the address of the node only', async () => {
    expect(await run('test "$(ip -o -4 address | grep -c inet)" = 2 && ip -o address | grep -q 10.88.0.1')).toBe(0)
  })

  it('cannot change the files and settings of the machine', async () => {
    const before = await readFile('/proc/sys/vm/overcommit_memory', 'utf8')
    expect(await run('! touch /etc/changed 2>/dev/null && ! touch /usr/changed 2>/dev/null')).toBe(0)
    expect(await run('echo 1 >/proc/sys/vm/overcommit_memory')).toBe(0)
    expect(await readFile('/proc/sys/vm/overcommit_memory', 'utf8')).toBe(before)
  })
})
