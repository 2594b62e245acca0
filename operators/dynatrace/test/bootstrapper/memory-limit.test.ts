/** Every mode finishes within the memory that the webhook grants an init container, enforced by the kernel. */
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { listing } from '@reeve/archives/testing'
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest'
import { type BootstrapperBundle, bundleBootstrapper } from './support/bootstrapper-bundle.ts'
import { initContainer, missingIsolation } from './support/init-container.ts'
import { memoryCgroup } from './support/memory-cgroup.ts'
import { AGENT, AGENT_ARGS, METADATA_ARGS, podArgs } from './support/pod.ts'
import { downloadTenant } from './support/tenant-volume.ts'

const MIB = 1024 ** 2
/** The limit of the init container. */
const LIMIT_BYTES = 60 * MIB
/** More than fits into memory at once. */
const AGENT_BYTES = 64 * MIB

let bundle: BootstrapperBundle
beforeAll(async () => {
  bundle = await bundleBootstrapper()
})
afterAll(() => bundle[Symbol.asyncDispose]())

/** A cgroup, or skips the test with the reason. */
async function limited(context: TestContext) {
  const missing = missingIsolation()
  if (missing !== undefined) context.skip(missing)
  const cgroup = await memoryCgroup(LIMIT_BYTES)
  return typeof cgroup === 'string' ? context.skip(cgroup) : cgroup
}

const bootstrap = (...args: readonly (readonly string[])[]) => [bundle.operator, 'bootstrap', ...podArgs(...args)]

describe('within 60 MiB, an init container', () => {
  it('that needs more is killed, so the limit is real', async (context) => {
    await using cgroup = await limited(context)
    await using container = await initContainer({ 'image/greedy.cjs': 'Buffer.alloc(80 * 1024 ** 2, 1)' })
    const { code } = await container.run(['/mnt/image/greedy.cjs'], { cgroup: cgroup.join })
    expect(code).not.toBe(0)
  })

  it('configures an agent and writes metadata for fifty containers', async (context) => {
    await using cgroup = await limited(context)
    const files = Object.entries(AGENT).map(([path, content]) => [`bin/${path}`, content])
    await using container = await initContainer({ ...Object.fromEntries(files), 'input/ruxitagentproc.json': '{}' })
    const more = Array.from({ length: 50 }, (_, index) => `--attribute-container={"k8s.container.name":"c${index}"}`)
    const options = { isReadOnly: true, cgroup: cgroup.join }
    expect(await container.run(bootstrap(AGENT_ARGS, METADATA_ARGS, more), options)).toEqual({ code: 0, log: '' })
    expect(await listing(container.config)).toHaveProperty(['c49/enrichment/dt_metadata.json'])
  })

  it('downloads and unpacks a code module that is larger than its memory', async (context) => {
    await using cgroup = await limited(context)
    await using tenant = await downloadTenant(AGENT_BYTES)
    await using container = await initContainer(tenant.input())
    const args = bootstrap(AGENT_ARGS, METADATA_ARGS, [`--version=${tenant.version}`])
    const { code, log } = await container.run(args, { cgroup: cgroup.join })
    expect([code, log]).toEqual([0, expect.stringContaining('installed the agent')])
    expect(await cgroup.peakBytes()).toBeLessThanOrEqual(LIMIT_BYTES)
    expect(await listing(container.config)).toHaveProperty(['app/enrichment/dt_metadata.json'])
  })

  it('copies a code module that is larger than its memory out of an image', async (context) => {
    await using cgroup = await limited(context)
    const files = Object.entries(AGENT).map(([path, content]) => [`image/${path}`, content])
    await using container = await initContainer(Object.fromEntries(files))
    const large = join(container.image, 'agent/bin/large')
    await mkdir(large)
    await writeFile(join(large, 'library.so'), Buffer.alloc(AGENT_BYTES, 1))
    const args = [bundle.standalone, '--source=/mnt/image', '--target=/mnt/bin/x', '--work=/mnt/bin/work']
    expect(await container.run(args, { cgroup: cgroup.join })).toEqual({ code: 0, log: '' })
    await rm(large, { recursive: true })
  })
})
