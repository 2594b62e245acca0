/** The init container that downloads its agent from a tenant. */
import { readdir, readlink, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { listing } from '@reeve/archives/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startForwardProxy } from '../tenant/support/forward-proxy.ts'
import { type BootstrapperBundle, bundleBootstrapper } from './support/bootstrapper-bundle.ts'
import { initContainer, missingIsolation } from './support/init-container.ts'
import { AGENT_ARGS, podArgs } from './support/pod.ts'
import { type DownloadTenant, downloadTenant } from './support/tenant-volume.ts'

const AGENT_BYTES = 1024 ** 2
// Names lead nowhere but through the proxy, and loopback addresses are never proxied.
const HOST = 'tenant.tenant.example'

let bundle: BootstrapperBundle
let tenant: DownloadTenant
beforeAll(async () => {
  ;[bundle, tenant] = await Promise.all([bundleBootstrapper(), downloadTenant(AGENT_BYTES)])
})
afterAll(async () => {
  await bundle[Symbol.asyncDispose]()
  await tenant[Symbol.asyncDispose]()
})

const bootstrap = (...args: readonly string[]) => [bundle.operator, 'bootstrap', ...podArgs(AGENT_ARGS, args)]
const missing = missingIsolation()

describe.skipIf(missing)(`an init container that downloads${missing ? ` (skipped: ${missing})` : ''}`, () => {
  it('fills the volume with the agent, in the modes of the archive, and configures it', async () => {
    await using container = await initContainer(tenant.input())
    const { code, log } = await container.run(bootstrap(`--version=${tenant.version}`))
    expect([code, log]).toEqual([0, expect.stringContaining('installed the agent')])
    const agent = await listing(container.bin)
    const modes = (path: string) => agent[path]?.split(' ')[0]
    expect((await readdir(container.bin)).toSorted()).toEqual(['agent', 'codemodules', 'manifest.json'])
    expect(await readlink(join(container.bin, 'agent/bin/current'))).toBe(tenant.version)
    expect([
      modes('agent/conf/ruxitagentproc.conf'),
      modes('agent/lib64/liboneagentproc.so'),
      agent.codemodules,
    ]).toEqual(['666', '755', '755 /'])
    const config = await listing(container.config)
    expect(config['app/oneagent/agent/config/ruxitagentproc.conf']).toMatch(/^644 \[agentType\]\napache on\n/)
    expect(config['oneagent/ld.so.preload']).toContain('/opt/dynatrace/oneagent-paas/')
  })

  it('requests the version, flavor and technologies of its arguments, and sends its token', async () => {
    await using container = await initContainer(tenant.input())
    tenant.simulator.clearCalls()
    const args = ['--version=latest', '--flavor=musl', '--technology=java,nginx']
    expect((await container.run(bootstrap(...args))).code).toBe(0)
    const [call] = tenant.simulator.calls()
    expect(call).toMatchObject({ token: 'apiToken', status: 200 })
    expect(call?.path).toMatch(
      /\/v1\/deployment\/installer\/agent\/unix\/paas\/latest\?flavor=musl&arch=\w+&bitness=64&skipMetadata=false&include=java&include=nginx$/,
    )
    const libraries = Object.keys(await listing(container.bin)).filter((path) => /liboneagent(?!proc)/.test(path))
    expect(libraries.map((path) => path.split('/').slice(-2).join('/'))).toEqual([
      'linux-musl-x86-64/liboneagentjava.so',
      'linux-musl-x86-64/liboneagentnginx.so',
    ])
  })

  it('fills the volume again, whatever an earlier run left in it', async () => {
    await using container = await initContainer({
      ...tenant.input(),
      'bin/agent/bin/old': 'x',
      'bin/.bootstrapper/agent/half': 'x',
      'bin/.bootstrapper.zip': 'half',
    })
    expect((await container.run(bootstrap(`--version=${tenant.version}`))).code).toBe(0)
    expect((await readdir(container.bin)).toSorted()).toEqual(['agent', 'codemodules', 'manifest.json'])
    expect((await readdir(join(container.bin, 'agent/bin'))).toSorted()).toEqual([tenant.version, 'any', 'current'])
  })

  it('considers any other target that exists as installed', async () => {
    await using container = await initContainer({ ...tenant.input(), 'image/agent/conf/ruxitagentproc.conf': '' })
    tenant.simulator.clearCalls()
    const installed = await container.run(bootstrap(`--version=${tenant.version}`, '--target=/mnt/image'))
    expect([installed.code, tenant.simulator.calls().length]).toEqual([0, 0])
    const fresh = await container.run(bootstrap(`--version=${tenant.version}`, '--target=/mnt/image/new'))
    expect(fresh.code).toBe(0)
    expect((await stat(join(container.image, 'new/agent/bin/current'))).isDirectory()).toBe(true)
    expect(await readdir(container.image)).toEqual(['agent', 'new'])
  })

  it('goes through the proxy of its configuration, but not for hosts that are excluded', async () => {
    await using named = await downloadTenant(AGENT_BYTES, { tls: { hosts: [HOST] } })
    await using proxy = await startForwardProxy({ account: 'me:p%w', names: { [HOST]: '127.0.0.1' } })
    const address = `me:p%25w@${proxy.address}`
    await using container = await initContainer(named.input({ proxy: address }))
    expect((await container.run(bootstrap(`--version=${named.version}`))).code).toBe(0)
    expect(new Set(proxy.seen)).toEqual(new Set([`CONNECT ${named.simulator.authority}`]))
    const seen = proxy.seen.length
    await using direct = await initContainer(named.input({ proxy: address, noProxy: '.tenant.example' }))
    expect((await direct.run(bootstrap(`--version=${named.version}`))).code).toBe(1)
    expect(proxy.seen).toHaveLength(seen)
  })
})

describe.skipIf(missing)(`a download that fails${missing ? ` (skipped: ${missing})` : ''}`, () => {
  it('names the versions that there are, and leaves an empty volume', async () => {
    await using container = await initContainer({ ...tenant.input(), 'bin/agent/bin/old': 'x' })
    const { code, log } = await container.run(bootstrap('--version=9.9.9.20990101-000000'))
    expect(code).toBe(1)
    expect(log).toMatch(/responded with status 404/)
    expect(log).toContain(tenant.version)
    expect(await readdir(container.bin)).toEqual([])
    expect(await readdir(container.config)).toEqual([])
  })

  it('never logs a token', async () => {
    const token = `${tenant.token.slice(0, -4)}XXXX`
    await using container = await initContainer(tenant.input({ apiToken: token }))
    const { code, log } = await container.run(bootstrap(`--version=${tenant.version}`, '--suppress-error'))
    expect([code, log]).toEqual([0, expect.stringMatching(/status 40[13]/)])
    expect(log).not.toContain(token.slice(-20))
  })

  it.each([
    ['no certificate authority for the tenant', { 'input/trusted.pem': '' }, /certificate/],
    ['no configuration', { 'input/dtclient.config': '' }, /dtclient.config is not a JSON object/],
    ['an unusable proxy', undefined, /proxy is not a valid URL/],
  ])('reports: %s', async (_, files, message) => {
    const input = files === undefined ? tenant.input({ proxy: 'http://me:50%secret@proxy:1' }) : tenant.input()
    await using container = await initContainer({ ...input, ...files })
    const { code, log } = await container.run(bootstrap(`--version=${tenant.version}`))
    expect([code, log]).toEqual([1, expect.stringMatching(message)])
    expect(log).not.toContain('secret')
    expect(await readdir(container.bin)).toEqual([])
  })

  it('is repeated when the connection breaks', async () => {
    await using container = await initContainer(tenant.input())
    tenant.simulator.faults.add({ kind: 'cut', operation: 'agent-download', afterBytes: 300_000, times: 1 })
    const { code, log } = await container.run(bootstrap(`--version=${tenant.version}`))
    expect([code, log]).toEqual([0, expect.stringContaining('retrying the download')])
  })
})
