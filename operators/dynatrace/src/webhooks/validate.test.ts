import type { KubeObject } from '@reeve/kube'
import { WebhookRouter } from '@reeve/runtime/webhooks'
import { describe, expect, it } from 'vitest'
import { dynakube, edgeConnect } from '../api/testing/build.ts'
import { lookups, unreachable } from '../api/testing/lookups.ts'
import type { Lookups } from '../api/validation/rule.ts'
import { validationPath, validationRoutes } from './validate.ts'

interface Response {
  readonly uid: string
  readonly allowed: boolean
  readonly status?: { readonly code: number; readonly reason: string; readonly message: string }
  readonly warnings?: readonly string[]
}

interface Review {
  readonly object?: object
  readonly oldObject?: object
  readonly operation?: string
  readonly subResource?: string
  readonly version?: string
  readonly dryRun?: boolean
  readonly answers?: Lookups
}

/** What the webhook of the object's kind says. */
async function review({ version, answers = lookups(), ...request }: Review): Promise<Response> {
  const { kind, apiVersion } = (request.object ?? request.oldObject) as KubeObject
  const own = version ?? apiVersion.split('/')[1] ?? ''
  const router = new WebhookRouter(validationRoutes(() => answers))
  const plural = `${kind.toLowerCase()}s`
  const body = {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: 'uid-1',
      kind: { group: 'dynatrace.com', version: own, kind },
      resource: { group: 'dynatrace.com', version: own, resource: plural },
      namespace: 'dynatrace',
      operation: 'CREATE',
      ...request,
    },
  }
  // The response is JSON; the tests know its shape.
  const { response } = (await router.handle(validationPath(own, kind), structuredClone(body))) as {
    readonly response: Response
  }
  return response
}

const placeholder = 'https://ENVIRONMENTID.live.dynatrace.com/api'
const asVersion = <T extends object>(object: T, version: string) => ({
  ...object,
  apiVersion: `dynatrace.com/${version}`,
})

describe('the paths', () => {
  it('exist for every version of both kinds', () => {
    expect(
      validationRoutes(() => lookups())
        .map(({ path }) => path)
        .sort(),
    ).toEqual([
      '/validate-dynatrace-com-v1alpha1-edgeconnect',
      '/validate-dynatrace-com-v1alpha2-edgeconnect',
      '/validate-dynatrace-com-v1beta3-dynakube',
      '/validate-dynatrace-com-v1beta4-dynakube',
      '/validate-dynatrace-com-v1beta5-dynakube',
      '/validate-dynatrace-com-v1beta6-dynakube',
    ])
  })
})

describe('patterns of ignored namespaces', () => {
  const flagged = (value: string) =>
    dynakube({ oneAgent: { applicationMonitoring: {} } }, { flags: { 'ignored-namespaces': value } })
  const namespaces = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`team-${index}`, {}]))

  it.each([
    ['59 KiB of repeats', JSON.stringify(['a{1000}'.repeat(8_600)]), 'pattern 1 has 60200 characters; at most 256'],
    ['281 KiB of repeats', JSON.stringify(['a{1000}'.repeat(41_000)]), 'has 287004 characters; at most 65536'],
    ['a repeat of repeats', JSON.stringify(['((a{30}){30}|b){2}']), 'pattern 1 is of size'],
  ])('are refused before anything is built from them: %s', async (_what, value, problem) => {
    const answers = lookups({ namespaces, dynakubes: [{ ...flagged(value), metadata: { name: 'other' } }] })
    const { allowed, status } = await review({ object: flagged(value), answers })
    expect([allowed, status?.message]).toEqual([
      false,
      expect.stringContaining(`the annotation feature.dynatrace.com/ignored-namespaces exceeds its limits: ${problem}`),
    ])
  })

  it('do not cause a rejection when they are invalid: they ignore nothing', async () => {
    expect(await review({ object: flagged('["(", "^a$"]') })).toMatchObject({ allowed: true })
  })
})

describe('selectors of namespaces', () => {
  const requirements = Array.from({ length: 1_001 }, (_, index) => ({ key: `k${index}`, operator: 'DoesNotExist' }))
  const values = Array.from({ length: 10_001 }, (_, index) => `v${index}`)
  const many = { matchExpressions: requirements }
  const long = { matchExpressions: [{ key: 'a', operator: 'In', values }] }

  it.each([
    [
      'spec.namespaceSelector: has 1001 requirements',
      { oneAgent: { applicationMonitoring: { namespaceSelector: many } } },
    ],
    ['spec.namespaceSelector: has 10001 values', { oneAgent: { applicationMonitoring: { namespaceSelector: long } } }],
    [
      'spec.metadataEnrichment.namespaceSelector: has 1001 requirements; at most 1000 are allowed',
      { metadataEnrichment: { enabled: true, namespaceSelector: many } },
    ],
    [
      'spec.otlpExporterConfiguration.namespaceSelector: has 10001 values; at most 10000 are allowed',
      { otlpExporterConfiguration: { signals: { logs: {} }, namespaceSelector: long } },
    ],
  ])('that would keep the webhook busy are refused: %s', async (message, spec) => {
    const { allowed, status } = await review({ object: dynakube(spec), answers: lookups({ namespaces: { shop: {} } }) })
    expect([allowed, status?.message]).toEqual([false, expect.stringContaining(message)])
  })
})

describe('long lists', () => {
  const many = (text: string, length = 150_000) => Array.from({ length }, (_, index) => `${text}${index}`)
  const volumes = many('v', 60_000).map((name) => ({ name, emptyDir: {} }))
  const volumeMounts = volumes.map(({ name }) => ({ name, mountPath: `/${name}` }))

  // Compared pair by pair, each of these would take minutes.
  it.each([
    ['capabilities', 'contains "a0", which is unknown', { activeGate: { capabilities: many('a') } }],
    ['protocols', 'contains "a0", which is not supported', { telemetryIngest: { protocols: many('a') } }],
    [
      'host tags',
      'repeat --set-host-tag for [7]',
      { oneAgent: { hostMonitoring: { args: many('--set-host-tag=').concat('--set-host-tag=7') } } },
    ],
    ['volumes', 'the path "relative" is not absolute', { extensions: { databases: [databaseWith(volumeMounts)] } }],
  ])('are reviewed in linear time: %s', async (_what, message, spec) => {
    const { allowed, status } = await review({ object: dynakube(spec) })
    expect([allowed, status?.message]).toEqual([false, expect.stringContaining(message)])
  })

  function databaseWith(mounts: readonly { readonly name: string; readonly mountPath: string }[]) {
    return { id: 'db', volumes, volumeMounts: [...mounts, { name: 'v0', mountPath: 'relative' }] }
  }
})

describe('a denial', () => {
  it('lists all mistakes, numbered, with their count and the kind', async () => {
    const object = dynakube({
      apiUrl: placeholder,
      activeGate: { capabilities: ['routing', 'routing', 'telepathy'] },
      oneAgent: { cloudNativeFullStack: {} },
    })
    const rival = dynakube({ oneAgent: { cloudNativeFullStack: {} } }, { name: 'rival' })
    const answers = lookups({ dynakubes: [rival], namespaces: { shop: {} } })
    const { allowed, status } = await review({ object, answers })
    expect(allowed).toBe(false)
    expect(status).toMatchObject({ code: 403, reason: 'Forbidden' })
    const [empty, header, ...lines] = status?.message.split('\n') ?? []
    expect([empty, header]).toEqual(['', '5 errors found in the DynaKube'])
    expect(lines.map((line) => line.slice(0, 4))).toEqual([' 1. ', ' 2. ', ' 3. ', ' 4. ', ' 5. '])
    expect(lines.join('\n')).toMatch(/apiUrl[\s\S]*telepathy[\s\S]*routing[\s\S]*rival[\s\S]*shop/)
  })

  it('carries the warnings too', async () => {
    const object = dynakube({ apiUrl: placeholder, activeGate: { capabilities: ['routing'] } })
    expect(await review({ object })).toMatchObject({ allowed: false, warnings: [expect.stringContaining('memory')] })
  })

  it('comes without a crash for an object without a spec', async () => {
    const { spec: _, ...bare } = dynakube()
    const { status } = await review({ object: bare })
    expect(status?.message).toContain('2 errors found in the DynaKube')
    const { spec: __, ...bareConnect } = edgeConnect()
    expect(await review({ object: bareConnect })).toMatchObject({ allowed: false })
  })

  it('judges old versions by what they become: two modes are one', async () => {
    const object = dynakube({ oneAgent: { classicFullStack: {}, hostMonitoring: {} } })
    expect((await review({ object })).status?.message).toContain('oneAgent')
    expect(await review({ object: asVersion(object, 'v1beta5') })).toMatchObject({ allowed: true })
  })
})

describe('an update', () => {
  const before = dynakube()

  it('must not change apiUrl, in any version', async () => {
    const object = dynakube({ apiUrl: 'https://other.live.example.com/api' })
    for (const version of ['v1beta3', 'v1beta4', 'v1beta5', 'v1beta6']) {
      const change = { object: asVersion(object, version), oldObject: asVersion(before, version) }
      const { status } = await review({ ...change, operation: 'UPDATE' })
      expect(status?.message).toContain('immutable')
    }
    expect(await review({ object: before, oldObject: before, operation: 'UPDATE' })).toEqual({
      uid: 'uid-1',
      allowed: true,
    })
  })

  it('of only labels is validated like any other', async () => {
    const invalid = dynakube({ apiUrl: placeholder })
    const labelled = { ...invalid, metadata: { ...invalid.metadata, labels: { team: 'a' } } }
    expect(await review({ object: labelled, oldObject: invalid, operation: 'UPDATE' })).toMatchObject({
      allowed: false,
    })
  })

  it('of an object being deleted is allowed, so that finalizers can be removed', async () => {
    const invalid = dynakube({ apiUrl: placeholder })
    const leaving = { ...invalid, metadata: { ...invalid.metadata, deletionTimestamp: '2030-01-01T00:00:00Z' } }
    expect(await review({ object: leaving, oldObject: leaving, operation: 'UPDATE' })).toMatchObject({ allowed: true })
  })

  it('of an EdgeConnect does not use the old object', async () => {
    const object = edgeConnect({ apiServer: 'other.apps.dynatrace.com' })
    expect(await review({ object, oldObject: edgeConnect(), operation: 'UPDATE' })).toMatchObject({ allowed: true })
  })
})

describe('what is not judged', () => {
  it('a deletion', async () => {
    const oldObject = dynakube({ apiUrl: placeholder, activeGate: { capabilities: ['routing'] } })
    expect(await review({ oldObject, operation: 'DELETE' })).toEqual({ uid: 'uid-1', allowed: true })
  })

  it('a write to the status', async () => {
    const object = dynakube({ apiUrl: placeholder })
    const write = { object, oldObject: object, operation: 'UPDATE', subResource: 'status' }
    expect(await review(write)).toEqual({ uid: 'uid-1', allowed: true })
  })
})

describe('what cannot be read', () => {
  it.each([
    [
      'a threshold that is too large',
      dynakube({ dynatraceApiRequestThreshold: 65_536 }),
      'dynatraceApiRequestThreshold',
    ],
    ['a negative threshold', dynakube({ dynatraceApiRequestThreshold: -1 }), 'dynatraceApiRequestThreshold'],
    ['a negative port', edgeConnect({ proxy: { host: 'p', port: -1 } }), 'spec.proxy.port'],
    ['another version', asVersion(dynakube(), 'v1beta2'), 'dynatrace.com/v1beta2'],
    ['another kind', { ...dynakube(), kind: 'Widget' }, 'Widget'],
    ['text for a number', dynakube({ activeGate: { replicas: 'three' as never } }), 'spec.activeGate.replicas'],
    ['a list for an object', dynakube({ oneAgent: [] as never }), 'spec.oneAgent'],
    ['a text for a list', dynakube({ activeGate: { capabilities: 'routing' as never } }), 'capabilities'],
    [
      'an annotation that is not a string',
      { ...dynakube(), metadata: { name: 'dk', annotations: { a: 1 } } },
      'annotations[a]',
    ],
    ['no metadata', { ...dynakube(), metadata: null }, 'metadata'],
  ])('%s is a bad request that names it', async (_, object, named) => {
    const kind = object.kind === 'EdgeConnect' ? 'edgeconnect' : 'dynakube'
    const version = kind === 'dynakube' ? 'v1beta6' : 'v1alpha2'
    const router = new WebhookRouter(validationRoutes(() => lookups()))
    const request = {
      uid: 'uid-1',
      kind: { group: 'dynatrace.com', version, kind: object.kind },
      resource: { group: 'dynatrace.com', version, resource: `${kind}s` },
      operation: 'CREATE',
      object,
    }
    const body = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request: structuredClone(request) }
    expect(await router.handle(validationPath(version, kind), body)).toMatchObject({
      response: {
        allowed: false,
        status: { code: 400, reason: 'BadRequest', message: expect.stringContaining(named) },
      },
    })
  })

  it('a number of any size is fine where the schema has no limit', async () => {
    for (const dynatraceApiRequestThreshold of [0, 65_535]) {
      expect(await review({ object: dynakube({ dynatraceApiRequestThreshold }) })).toMatchObject({ allowed: true })
    }
  })
})

describe('without a response of the cluster', () => {
  it('rules that depend on other objects pass, and those that require them deny', async () => {
    const agent = { cloudNativeFullStack: {} }
    expect(await review({ object: dynakube({ oneAgent: agent }), answers: unreachable() })).toMatchObject({
      allowed: true,
    })
    const { status } = await review({
      object: dynakube({ proxy: { valueFrom: 'proxy' }, enableIstio: true }),
      answers: unreachable(),
    })
    expect(status?.message).toMatch(
      /Secret proxy cannot be read: connection refused[\s\S]*Istio[\s\S]*connection refused/,
    )
  })

  it('a mistake in our own code is not taken for silence', async () => {
    const broken: Lookups = {
      ...lookups(),
      listDynaKubes: () => Promise.reject(new TypeError('undefined is not a function')),
    }
    const { allowed, status } = await review({
      object: dynakube({ oneAgent: { cloudNativeFullStack: {} } }),
      answers: broken,
    })
    expect({ allowed, code: status?.code }).toEqual({ allowed: false, code: 500 })
    expect(status?.message).not.toContain('undefined')
  })
})

describe('an object that no API server sends', () => {
  const raw = (spec: string) => ({ ...dynakube(), spec: JSON.parse(spec) as object })

  it.each(['__proto__', 'constructor', 'toString'])('is judged with a field named %s', async (name) => {
    const { allowed, status } = await review({ object: raw(`{"${name}":{"apiUrl":"x"}}`) })
    expect(allowed).toBe(false)
    expect(status?.message).toContain('spec.apiUrl is missing')
  })

  it.each([
    ['{"apiUrl":null}', 'spec.apiUrl is missing'],
    ['{"apiUrl":"https://a.example.com/api","proxy":null,"metadataEnrichment":null}', ''],
    ['{"extensions":{"databases":[null]}}', 'spec.extensions.databases[0]: must not be null'],
    ['{"extensions":{"databases":[{}]}}', 'spec.extensions.databases[0].id: is required'],
  ])('is read as Kubernetes reads null and what is missing: %s', async (spec, message) => {
    const { status } = await review({ object: raw(spec) })
    expect(status?.message ?? '').toContain(message)
    expect(status?.code).not.toBe(500)
  })

  it('that was stored before a field became required can still be changed', async () => {
    const oldObject = raw('{"apiUrl":"https://a.example.com/api","extensions":{"databases":[{}]}}')
    const object = raw('{"apiUrl":"https://a.example.com/api"}')
    expect(await review({ object, oldObject, operation: 'UPDATE' })).toMatchObject({ allowed: true })
  })
})
