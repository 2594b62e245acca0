/** Failures are reported, do not stop independent components, and are retried. */
import { type KubeObject, Namespaces, type Resource, Secrets, Services, StatefulSets } from '@reeve/kube'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fixedCertificate } from '../../exploration/dynatrace-under-test.ts'
import { INSTANCE_LABEL } from '../../src/controllers/dynakube/components/injection/map-namespaces.ts'
import { encodeSecret } from '../../src/controllers/rendering/secret-data.ts'
import { DynaKubes } from '../../src/index.ts'
import { createTenantClient } from '../../src/tenant/client/tenant-client.ts'
import { find, inError, key, operations, running, settled, WITHOUT_KEY } from './support/questions.ts'
import { type Stage, setStage } from './support/stage.ts'

const MINUTE = 60_000

const TENANTS = [
  ...['broken', 'busy', 'limited', 'picky', 'halved', 'first', 'later', 'refused', 'robbed', 'keeping', 'injecting'],
  ...['retried', 'proxied', 'garbled', 'astray', 'ignoring', 'unnamed'],
]
const NO_RETRIES = { maxRetries: 0, baseDelayMs: 1, maxDelayMs: 1, maxRetryAfterMs: 1 }

let stage: Stage
beforeAll(async () => {
  stage = await setStage(TENANTS, {
    // Calls fail without retries: retries within a call have their own tests.
    connect: (options) =>
      createTenantClient({ ...options, sender: stage.simulator.sender, env: {}, retries: NO_RETRIES }),
    selfSigned: (subject, clock) =>
      subject.commonName.startsWith('unnamed-')
        ? Promise.reject(new Error('"not-an-address" is not an IP address'))
        : fixedCertificate(subject, clock),
  })
})
afterAll(() => stage?.[Symbol.asyncDispose]())

const hosts = { oneAgent: { hostMonitoring: {} } }
const gateway = { activeGate: { capabilities: ['routing'] } }
const image = (name: string) => ({ imageRef: { repository: `registry.example.com/${name}`, tag: '1' } })

/** An object without a controller, which is not adopted. */
const occupy = <T extends KubeObject>(resource: Resource<T>, kind: string, name: string, rest: object = {}) =>
  // The fields that a kind needs are given by the caller.
  stage.client.create(resource, { apiVersion: 'v1', kind, metadata: key(name), ...rest } as unknown as T)

describe('when everything fails', () => {
  it('everything is attempted and reported', async () => {
    const calls = ['gateway-latest-version', 'agent-connection-info', 'settings-list']
    for (const operation of calls) {
      stage.simulator.faults.add({ kind: 'status', status: 500, tenant: 'broken', operation, message: operation })
    }
    const service = { spec: { ports: [{ port: 80 }] } }
    await occupy(Secrets, 'Secret', 'broken-kspm-token')
    await occupy(Services, 'Service', 'broken-extension-controller', service)
    await occupy(Services, 'Service', 'broken-telemetry-ingest', service)
    stage.simulator.clearCalls()
    const spec = {
      oneAgent: { cloudNativeFullStack: {} },
      activeGate: { capabilities: ['kubernetes-monitoring'] },
      extensions: { prometheus: {} },
      telemetryIngest: {},
      logMonitoring: {},
      kspm: { mappedHostPaths: ['/etc'] },
      templates: {
        otelCollector: image('otelc'),
        extensionExecutionController: image('eec'),
        kspmNodeConfigurationCollector: image('ncc'),
      },
    }
    await stage.create('broken', spec, WITHOUT_KEY)
    await inError(stage, 'broken')
    const record = stage.records.find(({ key: { name }, error }) => name === 'broken' && error !== undefined)
    for (const part of [...calls, 'broken-kspm-token', 'broken-extension-controller', 'broken-telemetry-ingest']) {
      expect(record?.error).toContain(part)
    }
    for (const type of ['OneAgentConnectionInfo', 'ActiveGateVersion']) {
      expect(await stage.condition('broken', type)).toMatchObject({ status: 'False', reason: 'DynatraceApiError' })
    }
    for (const type of ['KSPMTokenSecret', 'ExtensionsService', 'OTELCService']) {
      expect(await stage.condition('broken', type)).toMatchObject({ status: 'False', reason: 'KubeApiError' })
    }
    // Gateways do not run: the cluster is not announced for them.
    expect(operations(stage, 'broken')).not.toContain('settings-create')
    // It would keep retrying while the others are tested.
    await stage.client.delete(DynaKubes, key('broken'))
  })
})

describe('a tenant that is rate limited or unavailable', () => {
  it.each([
    ['busy', { kind: 'status', status: 503 }],
    ['limited', { kind: 'rate-limit', retryAfterSeconds: null }],
  ] as const)('is called again after a minute, without an error: %s', async (name, response) => {
    await stage.create(name, hosts)
    await running(stage, name)
    const before = (await stage.read(name)).status
    stage.advance(16 * MINUTE)
    const fault = stage.simulator.faults.add({ ...response, tenant: name, operation: 'agent-connection-info' })
    const record = await stage.reconcile(name)
    expect(record.outcome).toBe('requeue_after')
    expect((record.nextRunMs ?? 0) - record.startedMs).toBeLessThan(2 * MINUTE)
    expect((await stage.read(name)).status).toEqual(before)
    fault.remove()
  })
})

describe('a tenant that asks to retry one of its calls', () => {
  const CALLS = ['token-lookup', 'agent-connection-info', 'settings-list', 'process-module-config']

  it('is called again in a minute, for every call', async () => {
    const namespaceSelector = { matchLabels: { team: 'picky' } }
    await stage.create('picky', { oneAgent: { applicationMonitoring: { namespaceSelector } } })
    await running(stage, 'picky')
    for (const operation of CALLS) {
      await stage.reconcile('picky')
      const { status } = await stage.read('picky')
      stage.advance(16 * MINUTE)
      const fault = stage.simulator.faults.add({ kind: 'status', status: 503, tenant: 'picky', operation })
      const { outcome, nextRunMs = 0, startedMs, durationMs } = await stage.reconcile('picky')
      expect([operation, outcome, nextRunMs - startedMs - durationMs]).toEqual([operation, 'requeue_after', MINUTE])
      expect((await stage.read('picky')).status).toEqual(status)
      fault.remove()
    }
  })
})

describe('a certificate that cannot be made', () => {
  it('stops the gateways that need it only', async () => {
    await stage.create('unnamed', { ...hosts, ...gateway })
    await inError(stage, 'unnamed')
    expect(await stage.condition('unnamed', 'TLSSecret')).toMatchObject({ reason: 'SecretGenerationFailed' })
    expect(await stage.condition('unnamed', 'OneAgentDaemonSet')).toMatchObject({ reason: 'DaemonSetCreated' })
    expect(await find(stage, StatefulSets, 'unnamed-activegate')).toBeUndefined()
  })
})

describe('a tenant that is partly unavailable', () => {
  it('after another part has failed is an error', async () => {
    const fail = (status: number, operation: string) =>
      stage.simulator.faults.add({ kind: 'status', status, tenant: 'halved', operation })
    const faults = [fail(500, 'gateway-connection-info'), fail(503, 'agent-connection-info')]
    await stage.create('halved', { ...hosts, ...gateway }, WITHOUT_KEY)
    await inError(stage, 'halved')
    expect(await stage.condition('halved', 'ActiveGateConnectionInfo')).toMatchObject({ reason: 'DynatraceApiError' })
    for (const fault of faults) fault.remove()
    await settled(stage, 'halved')
  })
})

describe('a version that cannot be requested', () => {
  it('is an error when there is none yet', async () => {
    const fault = stage.simulator.faults.add({
      kind: 'status',
      status: 500,
      tenant: 'first',
      operation: 'agent-latest-version',
    })
    await stage.create('first', hosts)
    await inError(stage, 'first')
    expect(await stage.condition('first', 'OneAgentVersion')).toMatchObject({ reason: 'DynatraceApiError' })
    fault.remove()
    await settled(stage, 'first')
  })

  it('leaves gateways with the image they have', async () => {
    await stage.create('later', gateway, WITHOUT_KEY)
    await settled(stage, 'later')
    const imageOf = async () =>
      (await find(stage, StatefulSets, 'later-activegate'))?.spec?.template?.spec?.containers[0]?.image
    const before = await imageOf()
    const operation = 'gateway-latest-version'
    const fault = stage.simulator.faults.add({ kind: 'status', status: 500, tenant: 'later', operation })
    stage.advance(16 * MINUTE)
    const record = await stage.reconcile('later')
    fault.remove()
    expect(record.outcome).toBe('requeue_after')
    expect(before).toMatch(/\/linux\/activegate:/)
    expect(await imageOf()).toBe(before)
    expect((await stage.read('later')).status?.phase).not.toBe('Error')
  })
})

describe('a cluster that refuses', () => {
  it('is reported in the condition of the object that it rejects', async () => {
    const labels = { app: 'theirs' }
    await stage.client.create(StatefulSets, {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: key('refused-activegate'),
      spec: {
        serviceName: '',
        replicas: 0,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'a', image: 'a' }] } },
      },
    })
    await stage.create('refused', gateway, WITHOUT_KEY)
    await inError(stage, 'refused')
    expect(await stage.condition('refused', 'ActiveGateStatefulSet')).toMatchObject({
      status: 'False',
      reason: 'KubeApiError',
      message: expect.stringContaining('StatefulSet dynatrace/refused-activegate'),
    })
  })

  it('keeps what could be written: the tenant makes one token for gateways, however often they fail', async () => {
    await stage.reconcile('refused')
    await stage.reconcile('refused')
    expect(await stage.condition('refused', 'ActiveGateAuthTokenSecret')).toMatchObject({ status: 'True' })
    expect(await find(stage, Secrets, 'refused-activegate-authtoken-secret')).toBeDefined()
    expect(operations(stage, 'refused').filter((operation) => operation === 'active-gate-token')).toHaveLength(1)
    await stage.client.delete(DynaKubes, key('refused'))
  })

  it('is reported in the condition of a token that cannot be stored', async () => {
    const data = encodeSecret({ 'auth-token': 'dt0g02.THEIRS.secret' })
    await occupy(Secrets, 'Secret', 'robbed-activegate-authtoken-secret', { data })
    await stage.create('robbed', gateway, WITHOUT_KEY)
    await inError(stage, 'robbed')
    expect(await stage.condition('robbed', 'ActiveGateAuthTokenSecret')).toMatchObject({
      status: 'False',
      reason: 'KubeApiError',
      message: expect.stringContaining('robbed-activegate-authtoken-secret'),
    })
    await stage.client.delete(DynaKubes, key('robbed'))
  })

  it('to delete one object does not keep the others', async () => {
    await stage.create('keeping', { ...hosts, ...gateway }, WITHOUT_KEY)
    await settled(stage, 'keeping')
    const match = { verb: 'delete', resource: 'services', name: 'keeping-activegate' }
    const heal = stage.cluster.faults.inject(match, { kind: 'status', code: 403 }, { times: Number.POSITIVE_INFINITY })
    await stage.edit('keeping', { spec: { activeGate: null } })
    await inError(stage, 'keeping')
    expect(await find(stage, Services, 'keeping-activegate')).toBeDefined()
    expect(await find(stage, StatefulSets, 'keeping-activegate')).toBeUndefined()
    expect(await find(stage, Secrets, 'keeping-activegate-authtoken-secret')).toBeUndefined()
    expect(await stage.condition('keeping', 'ActiveGateStatefulSet')).toBeUndefined()
    heal()
    await stage.until(async () => (await find(stage, Services, 'keeping-activegate')) === undefined)
    await settled(stage, 'keeping')
  })

  it('to change a namespace is an error, and the rest is applied and reported', async () => {
    const labels = { team: 'injecting' }
    await stage.client.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop', labels } })
    const read = async () => (await stage.client.get(Namespaces, { name: 'shop' })).metadata.labels ?? {}
    const applicationMonitoring = { namespaceSelector: { matchLabels: labels } }
    await stage.create('injecting', { oneAgent: { applicationMonitoring } })
    await stage.until(async () => (await read())[INSTANCE_LABEL] === 'injecting')
    const match = { verb: 'patch', resource: 'namespaces', name: 'shop' }
    const heal = stage.cluster.faults.inject(match, { kind: 'status', code: 403 }, { times: Number.POSITIVE_INFINITY })
    await stage.edit('injecting', { spec: { oneAgent: null } })
    await inError(stage, 'injecting')
    expect(await stage.condition('injecting', 'CodeModulesInjection')).toBeUndefined()
    heal()
    await settled(stage, 'injecting')
    expect(await read()).not.toHaveProperty([INSTANCE_LABEL])
  })
})

describe('patterns of ignored namespaces that no webhook has seen', () => {
  it('are reported to exceed their limits, and everything else is applied', async () => {
    const value = JSON.stringify(['a{1000}'.repeat(8_600)])
    const applicationMonitoring = { namespaceSelector: { matchLabels: { team: 'ignoring' } } }
    const flags = { 'feature.dynatrace.com/ignored-namespaces': value }
    await stage.create('ignoring', { oneAgent: { applicationMonitoring } }, flags)
    await running(stage, 'ignoring')
    expect(await stage.condition('ignoring', 'IgnoredNamespaces')).toMatchObject({
      status: 'False',
      reason: 'LimitExceeded',
      message: expect.stringContaining('the annotation feature.dynatrace.com/ignored-namespaces exceeds its limits'),
    })
  })
})

describe('an error', () => {
  it('is retried soon, with growing delays', async () => {
    const { tokens } = stage.simulator.tenant('retried')
    tokens.setScopes('apiToken', [])
    await stage.create('retried', hosts)
    const failed = () => stage.records.filter(({ key: { name }, error }) => name === 'retried' && error !== undefined)
    await stage.until(() => failed().length >= 2)
    const delays = failed().map(({ nextRunMs = 0, startedMs, durationMs }) => nextRunMs - startedMs - durationMs)
    expect(delays[0]).toBeLessThan(2_000)
    expect(delays[1]).toBeGreaterThan(delays[0] ?? 0)
    expect(failed().map(({ outcome }) => outcome)).toEqual(failed().map(() => 'error'))
  })

  it('in the proxy keeps everything else from being done', async () => {
    await stage.create('proxied', { ...hosts, proxy: { valueFrom: 'no-such-secret' } })
    await inError(stage, 'proxied')
    expect(await find(stage, Secrets, 'proxied-oneagent-tenant-secret')).toBeUndefined()
    expect(operations(stage, 'proxied')).toEqual([])
    expect(await stage.condition('proxied', 'Tokens')).toMatchObject({
      reason: 'TokenError',
      message: expect.stringContaining('no-such-secret'),
    })
  })

  it.each([
    ['garbled', { proxy: { value: 'http://user:pass%word@proxy.example.com' } }, 'spec.proxy.value is not the URL'],
    ['astray', { apiUrl: 'ftp://environment.example.com/api' }, 'apiUrl is not a web address'],
  ])('in an address does, too: %s', async (name, spec, message) => {
    await stage.create(name, { ...hosts, ...spec })
    await inError(stage, name)
    expect(await find(stage, Secrets, `${name}-oneagent-tenant-secret`)).toBeUndefined()
    expect(operations(stage, name)).toEqual([])
    expect(await stage.condition(name, 'Tokens')).toMatchObject({
      status: 'False',
      reason: 'TokenError',
      message: expect.stringContaining(message),
    })
  })
})
