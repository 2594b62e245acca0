import { describe, expect, it } from 'vitest'
import type { DynaKube, DynaKubeSpec } from '../latest.ts'
import { type DynaKubeParts, dynakube } from '../testing/build.ts'
import { type LookupParts, lookups, unreachable } from '../testing/lookups.ts'
import { parseModules } from './modules.ts'
import { denialText } from './rule.ts'
import { validateDynaKube } from './validate.ts'

const judge = (spec: Partial<DynaKubeSpec>, parts: DynaKubeParts = {}, cluster: LookupParts = {}) =>
  validateDynaKube(dynakube(spec, parts), lookups(cluster))
const errors = async (...args: Parameters<typeof judge>) => (await judge(...args)).errors
const allowed = { errors: [], warnings: [] }
const HOST_MODES = ['classicFullStack', 'cloudNativeFullStack', 'hostMonitoring'] as const
const limited = (capabilities: string[]) => ({ capabilities, resources: { limits: { memory: '1Gi' } } })

describe('the denial', () => {
  it('lists all mistakes, numbered, with their count and the kind', async () => {
    const rival = dynakube({ oneAgent: { cloudNativeFullStack: {} } }, { name: 'rival' })
    const found = await errors(
      {
        apiUrl: 'https://ENVIRONMENTID.live.dynatrace.com/api',
        oneAgent: { cloudNativeFullStack: {} },
        activeGate: limited(['routing', 'routing', 'magic']),
      },
      {},
      { dynakubes: [rival], namespaces: { shop: {} } },
    )
    expect(found).toHaveLength(5)
    const text = denialText('DynaKube', found)
    expect(text).toMatch(/^\n5 errors found in the DynaKube\n 1\. spec\.apiUrl .*\n 2\. .*"magic".*\n 3\. .*"routing"/)
    expect(text).toMatch(/\n 4\. .*rival.*nodeSelector.*\n 5\. .*namespace shop/)
  })

  it('comes with warnings too', async () => {
    const verdict = await judge({ apiUrl: '', activeGate: { capabilities: ['routing'] } })
    expect(verdict.errors.length).toBeGreaterThan(0)
    expect(verdict.warnings).toHaveLength(1)
  })
})

describe('apiUrl', () => {
  const at = (apiUrl: string) => errors({ apiUrl })

  it.each([
    ['https://ENVIRONMENTID.live.dynatrace.com/api', /example/],
    ['https://ENVIRONMENTID.live.dynatrace.com', /must end in \/api/],
    ['https://www.google.com', /must end in \/api/],
    ['/api', /needs a host/],
    ['https://tenantid.doma.apps.in/api', /drop the "apps" part/],
  ])('%s is refused', async (apiUrl, message) => {
    expect(await at(apiUrl)).toEqual([expect.stringMatching(message)])
  })

  it.each([
    'https://tenantid.doma.in/api',
    'https://...tenantid/api',
    'https://my-in-cluster-activegate/e/<tenant>/api',
  ])('%s is allowed', async (apiUrl) => {
    expect(await at(apiUrl)).toEqual([])
  })

  it('cannot change', async () => {
    const before = dynakube({ apiUrl: 'https://old/api' })
    const after = dynakube({ apiUrl: 'https://new/api' })
    const verdict = await validateDynaKube(after, lookups(), before)
    expect(verdict.errors).toEqual([expect.stringMatching(/immutable.*https:\/\/old.*https:\/\/new.*create it again/)])
    expect(await validateDynaKube(before, lookups(), before)).toEqual(allowed)
  })

  it('is missed in an object without a spec', async () => {
    const { spec: _, ...bare } = dynakube()
    const verdict = await validateDynaKube(bare, lookups())
    expect(verdict.errors).toEqual([expect.stringMatching(/missing/), expect.stringMatching(/not a valid tenant URL/)])
  })
})

describe('modes', () => {
  it('are rejected together and allowed separately', async () => {
    expect(await errors({ oneAgent: { classicFullStack: {}, hostMonitoring: {} } })).toEqual([
      expect.stringMatching(/several modes \(classicFullStack, hostMonitoring\)/),
    ])
    for (const mode of [...HOST_MODES, 'applicationMonitoring']) {
      expect(await judge({ oneAgent: { [mode]: {} } })).toEqual(allowed)
    }
  })

  it('beyond the first are not seen in older versions', async () => {
    const old = {
      ...dynakube({ oneAgent: { classicFullStack: {}, hostMonitoring: {} } }),
      apiVersion: 'dynatrace.com/v1beta5',
    }
    expect((await validateDynaKube(old, lookups())).errors).toEqual([])
  })
})

describe('names', () => {
  const named = (length: number, spec: Partial<DynaKubeSpec> = {}) =>
    errors(spec, { name: 'a'.repeat(length) }).then((found) => found.filter((each) => each.includes('metadata.name')))

  it.each([
    [40, {}],
    [32, { extensions: { prometheus: {} } }],
    [32, { extensions: { databases: [{ id: 'a' }] } }],
    [38, { telemetryIngest: {} }],
    [35, { kspm: {} }],
    [32, { extensions: { prometheus: {} }, telemetryIngest: {}, kspm: {} }],
  ])('may have %i characters with %o', async (limit, spec) => {
    expect(await named(limit, spec)).toEqual([])
    expect(await named(limit + 1, spec)).toEqual([expect.stringContaining(`may have ${limit}`)])
  })

  it.each(['1dynakube', 'foo.bar'])('%s is refused in the words of Kubernetes', async (name) => {
    expect(await errors({}, { name })).toEqual([expect.stringContaining('[a-z]([-a-z0-9]*[a-z0-9])?')])
  })

  it('that are too long are not blamed for their characters', async () => {
    const found = await errors({}, { name: `1${'.'.repeat(41)}` })
    expect(found).toHaveLength(1)
    expect(found[0]).not.toContain('DNS-1035')
  })
})

describe('the agent', () => {
  const withArgs = (mode: string, ...args: string[]) => errors({ oneAgent: { [mode]: { args } } })

  it.each(['', '1.0.0.20240101-000000'])('may have version "%s"', async (version) => {
    expect(await errors({ oneAgent: { hostMonitoring: { version } } })).toEqual([])
  })

  it.each(['latest', 'raw', '1.200', '1.200.0', '1.200.0.0-0', 'v1.200.0', '1.200.1-raw+build'])(
    'cannot have version %s',
    async (version) => {
      for (const mode of [...HOST_MODES, 'applicationMonitoring']) {
        expect(await errors({ oneAgent: { [mode]: { version } } })).toEqual([expect.stringContaining(`"${version}"`)])
      }
    },
  )

  it('has each argument once, but for properties and distinct tags', async () => {
    for (const value of ['foo', 'bar']) {
      expect(await withArgs('hostMonitoring', '--set-server=foo', `--set-server=${value}`)).toEqual([
        expect.stringContaining('--set-server'),
      ])
    }
    expect(await withArgs('hostMonitoring', '--set-host-property=a', '--set-host-property=a')).toEqual([])
    const tags = ['foo=1', 'bar', 'foo=1', 'bar', 'doh', 'bar', 'foo=1'].map((tag) => `--set-host-tag=${tag}`)
    expect(await withArgs('hostMonitoring', ...tags)).toEqual([expect.stringContaining('[foo=1 bar]')])
    expect(await withArgs('hostMonitoring', '--flag', '--flag')).toEqual([expect.stringContaining('--flag')])
  })

  it('has its host id set by the operator in cloudNativeFullStack', async () => {
    expect(await withArgs('cloudNativeFullStack', '--set-host-id-source=x')).toHaveLength(1)
    expect(await withArgs('hostMonitoring', '--set-host-id-source=x')).toEqual([])
  })

  it('needs its storage volume where the host is read-only', async () => {
    const withValue = (mode: string, value: string) =>
      errors({ oneAgent: { [mode]: { env: [{ name: 'ONEAGENT_ENABLE_VOLUME_STORAGE', value }] } } })
    expect(await withValue('cloudNativeFullStack', 'false')).toHaveLength(1)
    expect(await withValue('hostMonitoring', 'false')).toHaveLength(1)
    expect(await withValue('hostMonitoring', 'true')).toEqual([])
    expect(await withValue('cloudNativeFullStack', 'true')).toEqual([])
    expect(await withValue('classicFullStack', 'false')).toEqual([])
    const elsewhere = {
      name: 'ONEAGENT_ENABLE_VOLUME_STORAGE',
      valueFrom: { configMapKeyRef: { name: 'settings', key: 'storage' } },
    }
    expect(await errors({ oneAgent: { hostMonitoring: { env: [elsewhere] } } })).toHaveLength(1)
  })

  it('takes code modules from an image where something can unpack it', async () => {
    const withImage = (mode: string, codeModulesImage: string, csiDriver: boolean, pull: string) =>
      errors(
        { oneAgent: { [mode]: { codeModulesImage } } },
        { flags: { 'node-image-pull': pull } },
        { modules: { csiDriver } },
      )
    for (const mode of ['applicationMonitoring', 'cloudNativeFullStack']) {
      expect(await withImage(mode, 'i', true, '')).toEqual([])
      expect(await withImage(mode, 'i', false, '')).toEqual([expect.stringContaining('CSI driver')])
      expect(await withImage(mode, 'i', false, 'true')).toEqual([])
      expect(await withImage(mode, '', true, 'true')).toEqual([expect.stringContaining('node-image-pull needs')])
    }
  })
})

describe('DynaKubes that share a cluster', () => {
  const node = (value: string) => ({ nodeSelector: { node: value } })
  const agent = (mode: string, value: string, name: string, apiUrl = 'https://a/api') =>
    dynakube({ apiUrl, oneAgent: { [mode]: node(value) } }, { name })
  const logs = (value: string, name: string, apiUrl = 'https://a/api') =>
    dynakube(
      {
        apiUrl,
        logMonitoring: {},
        templates: { logMonitoring: { ...node(value), imageRef: { repository: 'r', tag: 't' } } },
      },
      { name },
    )
  const conflicts = async (object: DynaKube, ...dynakubes: DynaKube[]) =>
    (await validateDynaKube(object, lookups({ dynakubes }))).errors

  it('cannot run two agents on a node, regardless of the tenant', async () => {
    const one = agent('cloudNativeFullStack', 'x', 'one')
    const rivals = [agent('hostMonitoring', 'x', 'two', 'https://b/api'), agent('classicFullStack', 'x', 'three')]
    expect(await conflicts(one, ...rivals)).toEqual([expect.stringMatching(/two, three/)])
    expect(await conflicts(one, agent('hostMonitoring', 'y', 'two'))).toEqual([])
  })

  it('share nodes unless their selectors exclude each other', async () => {
    const selecting = (nodeSelector: Record<string, string> | undefined, name: string) =>
      dynakube({ oneAgent: { hostMonitoring: nodeSelector === undefined ? {} : { nodeSelector } } }, { name })
    const conflict = async (one: Record<string, string> | undefined, two: Record<string, string> | undefined) =>
      (await conflicts(selecting(one, 'one'), selecting(two, 'two'))).length > 0
    expect(await conflict(undefined, { a: '1' })).toBe(true)
    expect(await conflict({ a: '1' }, {})).toBe(true)
    expect(await conflict({ a: '1' }, { a: '1', b: '1' })).toBe(true)
    expect(await conflict({ a: '1' }, { b: '1' })).toBe(false)
  })

  it('cannot run an agent and a log agent of one tenant on a node', async () => {
    const one = agent('cloudNativeFullStack', 'x', 'one')
    expect(await conflicts(one, logs('x', 'two'))).toEqual([expect.stringContaining('two')])
    expect(await conflicts(one, logs('x', 'two', 'https://b/api'))).toEqual([])
    expect(await conflicts(one, logs('y', 'two'))).toEqual([])
    const verdict = await validateDynaKube(
      logs('x', 'one'),
      lookups({ dynakubes: [logs('x', 'two', 'https://b/api')] }),
    )
    expect(verdict.errors).toEqual([])
    expect(verdict.warnings).toHaveLength(1)
  })

  it('do not conflict with themselves', async () => {
    const one = agent('cloudNativeFullStack', 'x', 'one')
    expect(await conflicts(one, one)).toEqual([])
  })

  it('cannot inject the same namespace', async () => {
    const injecting = (name: string, team: string) =>
      dynakube({ oneAgent: { applicationMonitoring: { namespaceSelector: { matchLabels: { team } } } } }, { name })
    const namespaces = { shop: { team: 'a' }, bank: { team: 'b' } }
    const found = (one: DynaKube, two: DynaKube) =>
      validateDynaKube(one, lookups({ dynakubes: [two], namespaces })).then((verdict) => verdict.errors)
    expect(await found(injecting('one', 'a'), injecting('two', 'a'))).toEqual([
      expect.stringMatching(/shop.*two and one/),
    ])
    expect(await found(injecting('one', 'a'), injecting('two', 'b'))).toEqual([])
  })

  it('cannot enrich what another injects, but may configure exporters there', async () => {
    const namespaces = { shop: {}, 'kube-system': {} }
    const injecting = dynakube({ oneAgent: { applicationMonitoring: {} } }, { name: 'one' })
    const found = (other: DynaKube, cluster: LookupParts = { namespaces }) =>
      validateDynaKube(injecting, lookups({ dynakubes: [other], ...cluster })).then((verdict) => verdict.errors)
    const enriching = dynakube({ metadataEnrichment: { enabled: true } }, { name: 'two' })
    const exporting = dynakube({ otlpExporterConfiguration: { signals: { logs: {} } } }, { name: 'two' })
    expect(await found(enriching)).toEqual([expect.stringMatching(/shop.*two and one/)])
    expect(await found(exporting)).toEqual([])
    expect(await found(enriching, { namespaces: { 'kube-system': {} } })).toEqual([])
    const odd = { matchExpressions: [{ key: 'a', operator: 'Near' }] }
    const unreadable = dynakube({ metadataEnrichment: { enabled: true, namespaceSelector: odd } }, { name: 'two' })
    expect(await found(unreadable)).toEqual([])
  })

  it('pass when the cluster cannot be reached, and are denied where that matters', async () => {
    const one = agent('cloudNativeFullStack', 'x', 'one')
    expect(await validateDynaKube(one, unreachable())).toEqual(allowed)
    const verdict = await validateDynaKube(dynakube({ enableIstio: true, proxy: { valueFrom: 's' } }), unreachable())
    expect(verdict.errors).toEqual([
      expect.stringMatching(/Secret s .*connection refused/),
      expect.stringMatching(/Istio.*connection refused/),
    ])
  })
})

describe('modules', () => {
  it.each([
    [{ oneAgent: false }, { oneAgent: { hostMonitoring: {} } }, /OneAgent/],
    [{ activeGate: false }, { activeGate: limited(['routing']) }, /ActiveGate/],
    [{ kubernetesMonitoring: false }, { activeGate: limited(['kubernetes-monitoring']) }, /KubernetesMonitoring/],
    [{ extensions: false }, { extensions: { prometheus: {} } }, /Extensions/],
    [{ logMonitoring: false }, { oneAgent: { hostMonitoring: {} }, logMonitoring: {} }, /LogMonitoring/],
    [{ kspm: false }, { kspm: {} }, /^spec\.kspm needs KSPM[^,]*,[^,]*$/],
    [{ kspm: false, kubernetesMonitoring: false }, { kspm: {} }, /KSPM.*,.*KubernetesMonitoring/],
  ])('%o are missed when they are used', async (modules, spec, message) => {
    expect((await errors(spec, {}, { modules }))[0]).toMatch(message)
    expect(await errors({}, {}, { modules })).toEqual([])
  })

  it('are all there unless a readable text says otherwise', () => {
    for (const text of [undefined, '', 'garbage', '[]', '{"kspm":1}']) {
      expect(Object.values(parseModules(text)).every(Boolean)).toBe(true)
    }
    expect(parseModules('{"CSIdriver":true}')).toMatchObject({ csiDriver: true, kspm: false })
    expect(Object.values(parseModules('{}')).some(Boolean)).toBe(false)
  })
})

describe('the pace of updates', () => {
  const flags = { 'oneagent-max-unavailable': '3' }
  const rollingUpdate = { maxUnavailable: '10%' }
  const warnings = async (...args: Parameters<typeof judge>) => (await judge(...args)).warnings

  it('by the flag oneagent-max-unavailable is deprecated', async () => {
    expect(await warnings({ oneAgent: { hostMonitoring: {} } }, { flags })).toEqual([
      expect.stringContaining('oneagent-max-unavailable is deprecated; use rollingUpdate'),
    ])
  })

  it.each(HOST_MODES)('by rollingUpdate of %s makes the flag meaningless', async (mode) => {
    const spec = { oneAgent: { [mode]: { rollingUpdate } } }
    expect(await judge(spec)).toEqual(allowed)
    expect(await warnings(spec, { flags })).toContainEqual(expect.stringContaining('has no effect where rollingUpdate'))
  })

  it('by rollingUpdate of log monitoring makes the flag meaningless', async () => {
    const spec = { logMonitoring: {}, templates: { logMonitoring: { rollingUpdate } } }
    expect(await warnings(spec, { flags })).toContainEqual(expect.stringContaining('has no effect where rollingUpdate'))
  })
})
