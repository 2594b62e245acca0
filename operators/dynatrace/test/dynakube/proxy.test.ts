/** Connections of the operator to its tenant through a proxy, and their failures. */
import type { Duplex } from 'node:stream'
import { Secrets } from '@reeve/kube'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { encodeSecret } from '../../src/controllers/rendering/secret-data.ts'
import { DynaKubes } from '../../src/index.ts'
import { createTenantClient } from '../../src/tenant/client/tenant-client.ts'
import { startTenantSimulator } from '../../src/tenant/simulator/index.ts'
import { startForwardProxy } from '../tenant/support/forward-proxy.ts'
import { inError, key, operations, running } from './support/questions.ts'
import { type Stage, setStage } from './support/stage.ts'

// The name leads nowhere but through the proxy, and loopback addresses are never proxied.
const HOST = 'tenant.tenant.example'
const names = { [HOST]: '127.0.0.1' }
const NO_RETRIES = { maxRetries: 0, baseDelayMs: 1, maxDelayMs: 1, maxRetryAfterMs: 1 }
// Whether agents use the proxy makes no difference to the operator.
const WITHOUT_AGENTS = { 'feature.dynatrace.com/oneagent-ignore-proxy': 'true' }

let stage: Stage
beforeAll(async () => {
  const tenants = ['through', 'around', 'forbidden', 'wrong', 'broken', 'late', 'absent', 'written', 'stored']
  stage = await setStage(tenants, {
    server: await startTenantSimulator({ tenants: tenants.map((id) => ({ id })) }),
    connect: (options) => createTenantClient({ ...options, env: {}, retries: NO_RETRIES }),
  })
})
afterAll(() => stage?.[Symbol.asyncDispose]())

/** A DynaKube whose tenant is reached by its name. */
const create = (name: string, proxy: object, annotations: Readonly<Record<string, string>> = WITHOUT_AGENTS) =>
  stage.create(
    name,
    {
      apiUrl: stage.simulator.url(name).replace('127.0.0.1', HOST),
      // The certificate of the tenant is for its address.
      skipCertCheck: true,
      oneAgent: { applicationMonitoring: { namespaceSelector: { matchLabels: { team: name } } } },
      proxy,
    },
    annotations,
  )

/** What is reported about a DynaKube that cannot reach its tenant. */
async function failureOf(name: string): Promise<string> {
  await inError(stage, name)
  const { message = '' } = (await stage.condition(name, 'Tokens')) ?? {}
  await stage.client.delete(DynaKubes, key(name))
  return message
}

describe('a proxy', () => {
  it('forwards the requests of the operator', async () => {
    await using proxy = await startForwardProxy({ account: 'me:hunter2', names })
    await create('through', { value: `http://me:hunter2@${proxy.address}` })
    await running(stage, 'through')
    expect(proxy.seen[0]).toMatch(new RegExp(`^CONNECT ${HOST}:`))
    const hash = async () => (await stage.read('through')).status?.proxyURLHash
    // Only the operator uses it so far.
    expect(await hash()).toBeUndefined()
    const flag = (value: string | null) =>
      stage.edit('through', { metadata: { annotations: { 'feature.dynatrace.com/oneagent-ignore-proxy': value } } })
    await flag(null)
    await stage.until(async () => /^[0-9a-f]{16}$/.test((await hash()) ?? ''))
    await flag('true')
    await stage.until(async () => (await hash()) === undefined)
    await stage.client.delete(DynaKubes, key('through'))
  })

  it('is left out for the hosts of the flag no-proxy', async () => {
    await using proxy = await startForwardProxy({ names })
    const annotations = { ...WITHOUT_AGENTS, 'feature.dynatrace.com/no-proxy': '.tenant.example' }
    await create('around', { value: `http://${proxy.address}` }, annotations)
    expect(await failureOf('around')).toMatch(new RegExp(`${HOST}:\\d+: .*(ENOTFOUND|EAI_AGAIN)`))
    expect(proxy.seen).toEqual([])
  })

  it.each<[string, string, (client: Duplex) => void]>([
    ['forbidden', 'rejected the tunnel to HOST with 403 Forbidden', (client) => client.end('HTTP/1.1 403 No\r\n\r\n')],
    ['broken', 'closed the connection before it responded to the tunnel to HOST', (client) => client.destroy()],
    ['late', 'rejected the tunnel to HOST with 504 Gateway', (client) => client.end('HTTP/1.1 504 No\r\n\r\n')],
  ])('that fails is named in the status, and its password is not: %s', async (name, problem, misbehave) => {
    await using proxy = await startForwardProxy({ names, misbehave })
    await create(name, { value: `http://me:hunter2@${proxy.address}` })
    const message = await failureOf(name)
    const port = new URL(stage.simulator.url(name)).port
    expect(message).toContain(`the proxy ${proxy.address} ${problem.replace('HOST', `${HOST}:${port}`)}`)
    expect(message).not.toContain('hunter2')
    expect(operations(stage, name)).toEqual([])
  })

  it('that rejects the password is reported, and called once per attempt', async () => {
    await using proxy = await startForwardProxy({ account: 'me:right', names })
    await create('wrong', { value: `http://me:hunter2@${proxy.address}` })
    const message = await failureOf('wrong')
    expect(message).toMatch(
      /rejected the tunnel to .* with 407 .*; check the user name and the password in the address/,
    )
    expect(message).not.toContain('hunter2')
  })

  it('that does not run is named', async () => {
    await create('absent', { value: 'http://me:hunter2@127.0.0.1:1' })
    expect(await failureOf('absent')).toMatch(/the proxy 127.0.0.1:1 cannot be used: .*ECONNREFUSED/)
  })
})

describe('an invalid URL of a proxy', () => {
  // These would be reached directly: they stand for tenants that are not to be reached so.
  const direct = (name: string, proxy: object) =>
    stage.create(name, { oneAgent: { applicationMonitoring: {} }, proxy }, WITHOUT_AGENTS)

  it('in the spec is an error, and nothing is sent without a proxy', async () => {
    await direct('written', { value: '10.0.0.1:3128' })
    expect(await failureOf('written')).toBe(
      'spec.proxy.value is not the URL of a proxy, so nothing is sent; write it as http://user:password@host:port and ' +
        'percent-encode special characters of the password',
    )
    expect(operations(stage, 'written')).toEqual([])
  })

  it.each(['http://me:hunter2@proxy:3128\n', 'ftp://me:hunter2@proxy', ''])(
    'in a Secret is valid, too: %j',
    async (value) => {
      const metadata = { ...key('proxy'), name: `proxy-${value.length}` }
      const data = encodeSecret({ proxy: value })
      await stage.client.create(Secrets, { apiVersion: 'v1', kind: 'Secret', metadata, data })
      await direct('stored', { valueFrom: metadata.name })
      const message = await failureOf('stored')
      expect(message).toContain(
        `spec.proxy.valueFrom: the key proxy of the Secret dynatrace/${metadata.name} is not the URL of a proxy`,
      )
      expect(message).not.toContain('hunter2')
      expect(operations(stage, 'stored')).toEqual([])
    },
  )
})
