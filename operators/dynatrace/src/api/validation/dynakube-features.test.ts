import { describe, expect, it } from 'vitest'
import type { DynaKubeSpec } from '../latest.ts'
import { type DynaKubeParts, dynakube } from '../testing/build.ts'
import { type LookupParts, lookups } from '../testing/lookups.ts'
import { validateDynaKube } from './validate.ts'

const judge = (spec: Partial<DynaKubeSpec>, parts: DynaKubeParts = {}, cluster: LookupParts = {}) =>
  validateDynaKube(dynakube(spec, parts), lookups(cluster))
const errors = async (...args: Parameters<typeof judge>) => (await judge(...args)).errors
const warnings = async (...args: Parameters<typeof judge>) => (await judge(...args)).warnings
const image = { imageRef: { repository: 'r', tag: 't' } }
const images = {
  extensionExecutionController: image,
  otelCollector: image,
  sqlExtensionExecutor: image,
  kspmNodeConfigurationCollector: image,
}
const kubemon = { capabilities: ['kubernetes-monitoring'], resources: { limits: { memory: '1Gi' } } }

describe('selectors and images', () => {
  it.each(['name%', 'a'.repeat(64), 'name/'])('%s is not a valid label value', async (value) => {
    const inLabels = { matchLabels: { key: value } }
    const inExpressions = { matchExpressions: [{ key: 'key', operator: 'In', values: [value] }] }
    for (const namespaceSelector of [inLabels, inExpressions]) {
      const found = await errors({ oneAgent: { cloudNativeFullStack: { namespaceSelector } } })
      expect(found).toEqual([expect.stringContaining('spec.namespaceSelector.match')])
    }
  })

  it.each(['', 'a', 'WithUpperCase', 'label_with_underscore', 'label.with.dots-1'])('"%s" is valid', async (value) => {
    const namespaceSelector = { matchLabels: { 'example.com/key': value } }
    expect(await errors({ oneAgent: { applicationMonitoring: { namespaceSelector } } })).toEqual([])
  })

  it('operators take the values they need', async () => {
    const at = (operator: string, values: string[]) =>
      errors({
        oneAgent: {
          applicationMonitoring: { namespaceSelector: { matchExpressions: [{ key: 'k', operator, values }] } },
        },
      })
    expect(
      (await Promise.all([at('In', []), at('Exists', ['a']), at('Near', [])])).map(({ length }) => length),
    ).toEqual([1, 1, 1])
    expect(await at('Exists', [])).toEqual([])
  })

  it('images of both components are named in one message', async () => {
    const found = await errors({ oneAgent: { classicFullStack: { image: 'BOOM' } }, activeGate: { image: 'BOOM' } })
    expect(found).toEqual([expect.stringMatching(/ActiveGate.*;.*OneAgent/)])
  })

  const V6 = '[1080:0:0:0:8:800:200C:417A]:8888'
  it.each([
    'my.images.com/test',
    'my.images.com:5000/test:tag',
    '127.0.0.1:5000/test:tag',
    `${V6}/test:tag`,
    'https://my.images.com/test:tag',
    'test/image',
  ])('%s is an image', async (reference) => {
    expect(await errors({ activeGate: { image: reference } })).toEqual([])
  })

  it.each(['https://my.images.com:5000/test:tag', `https://${V6}/test`, 'BOOM', 'test@sha256:1', 'a'])(
    '%s is invalid',
    async (reference) => {
      expect(await errors({ activeGate: { image: reference } })).toHaveLength(1)
    },
  )
})

describe('the proxy', () => {
  const value = (url: string) => errors({ proxy: { value: url } })

  it.each(['http://user:pass%23word@host:1', 'http://user@host', 'proxy-value', 'proxy:3128', '', 'http://u:%22%3c@h'])(
    'may be "%s"',
    async (url) => {
      expect(await value(url)).toEqual([])
    },
  )

  it.each(["http://u:p'#@host", '10.0.0.1:3128', 'http://h:port', 'http://u:a b@h', 'http://u:"@h'])(
    '%s is not a URL',
    async (url) => {
      expect(await value(url)).toEqual([expect.stringMatching(/invalid proxy URL/)])
    },
  )

  it.each(["'", '`', ',', '&', '=', '+', '%', '\\', '😀', ' '])(
    'cannot have %s in its password, which is not repeated',
    async (character) => {
      const found = await value(`http://user:secret${encodeURIComponent(character)}@host:1`)
      expect(found).toEqual([expect.stringMatching(/password/)])
      expect(found[0]).not.toContain('secret')
    },
  )

  it('is looked up only when it is not given directly', async () => {
    expect(await errors({ proxy: { valueFrom: 's' } })).toEqual([
      expect.stringContaining('the Secret s does not exist'),
    ])
    expect(await errors({ proxy: { valueFrom: 's' } }, {}, { secrets: { s: {} } })).toEqual([
      expect.stringContaining('key proxy'),
    ])
    expect(await errors({ proxy: { value: 'http://h', valueFrom: 'missing' } })).toEqual([])
  })
})

describe('the ActiveGate', () => {
  it('has known capabilities, once each', async () => {
    const having = (...capabilities: string[]) => errors({ activeGate: { ...kubemon, capabilities } })
    expect(await having('magic')).toEqual([expect.stringContaining('"magic"')])
    expect(await having('routing', 'routing')).toEqual([expect.stringContaining('"routing"')])
    expect(await having('debugging')).toEqual([])
  })

  it('has one kind of storage', async () => {
    const claim = { volumeClaimTemplate: {} }
    expect(await errors({ activeGate: { useEphemeralVolume: true, ...claim } })).toHaveLength(1)
    expect(await errors({ activeGate: claim })).toEqual([])
    expect(await errors({ activeGate: { useEphemeralVolume: true } })).toEqual([])
  })

  it('should have limits', async () => {
    const having = (limits?: Record<string, string>) =>
      warnings({ activeGate: { capabilities: ['routing'], ...(limits && { resources: { limits } }) } })
    expect(await having()).toHaveLength(1)
    expect(await having({ memory: '1Gi' })).toEqual([])
    expect(await having({ cpu: '1' })).toEqual([])
  })

  it('needs Istio where that is switched on', async () => {
    expect(await errors({ enableIstio: true })).toEqual([expect.stringContaining('Istio')])
    expect(await errors({ enableIstio: true }, {}, { hasIstio: true })).toEqual([])
  })
})

describe('extensions', () => {
  const extensions = { prometheus: {} }

  it('need both halves of the image of their controller', async () => {
    for (const used of [extensions, { databases: [{ id: 'db' }] }]) {
      for (const imageRef of [{}, { repository: 'r' }, { tag: 't' }]) {
        const broken = { ...images, extensionExecutionController: { imageRef } }
        expect(await errors({ extensions: used, templates: broken })).toEqual([
          expect.stringContaining('extensionExecutionController'),
        ])
      }
      expect(await errors({ extensions: used, templates: images })).toEqual([])
    }
  })

  it('need an image of the collector, except in older versions', async () => {
    const templates = { extensionExecutionController: image }
    expect(await errors({ extensions, templates })).toEqual([expect.stringContaining('otelCollector')])
    expect(await errors({ telemetryIngest: {} })).toEqual([expect.stringContaining('otelCollector')])
    const old = { ...dynakube({ extensions: {}, telemetryIngest: {}, templates }), apiVersion: 'dynatrace.com/v1beta5' }
    expect((await validateDynaKube(old, lookups())).errors).toEqual([])
  })

  it('have one kind of storage', async () => {
    const both = { ...image, useEphemeralVolume: true, persistentVolumeClaim: {} }
    expect(await errors({ extensions, templates: { ...images, extensionExecutionController: both } })).toHaveLength(1)
  })

  it('give two warnings, and a third for a duplicate', async () => {
    expect(await warnings({ extensions, templates: images })).toHaveLength(2)
    const twin = dynakube({ extensions }, { name: 'twin' })
    const found = await warnings({ extensions, templates: images }, {}, { dynakubes: [twin] })
    expect(found).toHaveLength(3)
    expect(found[1]).toContain('twin')
    const stranger = dynakube({ extensions, apiUrl: 'https://b/api' }, { name: 'twin' })
    expect(
      await warnings({ extensions, templates: images }, {}, { dynakubes: [stranger, dynakube({}, { name: 'x' })] }),
    ).toHaveLength(2)
  })

  const mounting = (mountPath: string, volume: object = { emptyDir: {} }, name = 'v') =>
    judge({
      extensions: {
        databases: [{ id: 'db', volumes: [{ name: 'v', ...volume }], volumeMounts: [{ name, mountPath }] }],
      },
      templates: images,
    })

  it.each(['/bar/baz', '/var', '/tmp/../data'])('may mount %s, with two warnings', async (path) => {
    const verdict = await mounting(path)
    expect(verdict.errors).toEqual([])
    expect(verdict.warnings).toHaveLength(2)
  })

  it.each([
    ['/tmp/x', '/tmp'],
    ['/tmp/', '/tmp'],
    ['/', '/tmp'],
    ['/var/run/dynatrace/executor', '/var/run/dynatrace/executor/token'],
    ['/var/ssl-certs', '/var/ssl-certs/dynatrace'],
    ['not/absolute', 'not absolute'],
  ])('cannot mount %s', async (path, named) => {
    const { errors: found } = await mounting(path)
    expect(found).toHaveLength(1)
    expect(found[0]).toContain(`"${path}"`)
    expect(found[0]).toContain(named)
  })

  it('mount existing volumes and have no volume without a mount', async () => {
    expect((await mounting('/data', {}, 'other')).errors).toEqual([
      expect.stringContaining('"other"'),
      expect.stringContaining('not mounted: v'),
    ])
  })

  it('do not use the path of trusted certificates when they are mounted', async () => {
    const database = {
      id: 'db',
      volumes: [{ name: 'v', emptyDir: {} }],
      volumeMounts: [{ name: 'v', mountPath: '/var/ssl-certs/user' }],
    }
    const spec = { extensions: { databases: [database] }, templates: images }
    expect(await errors(spec)).toEqual([])
    expect(await errors({ ...spec, trustedCAs: 'certificates' })).toEqual([
      expect.stringContaining('conflicts with /var/ssl-certs/user'),
    ])
  })

  it('warn about paths of the host', async () => {
    expect((await mounting('/data', { hostPath: { path: '/x' } })).warnings).toHaveLength(3)
  })
})

describe('KSPM', () => {
  const kspm = (paths: string[], more: Partial<DynaKubeSpec> = {}, flags: Record<string, string> = {}) =>
    judge({ kspm: { mappedHostPaths: paths }, activeGate: kubemon, templates: images, ...more }, { flags })

  it('needs Kubernetes monitoring, one replica and an image', async () => {
    const broken = [
      kspm(['/'], { activeGate: {} }),
      kspm(['/'], {}, { 'automatic-kubernetes-api-monitoring': 'false' }),
      kspm(['/'], { activeGate: { ...kubemon, replicas: 2 } }),
      kspm(['/'], { templates: { kspmNodeConfigurationCollector: { imageRef: { tag: 't' } } } }),
      kspm(['/'], { templates: { kspmNodeConfigurationCollector: { imageRef: { repository: 'r' } } } }),
    ]
    for (const verdict of await Promise.all(broken)) expect(verdict.errors).toHaveLength(1)
  })

  it('maps everything or absolute paths', async () => {
    expect(await kspm(['/'])).toEqual({ errors: [], warnings: [] })
    expect(await kspm(['/a', '/b'])).toEqual({ errors: [], warnings: [] })
    expect((await kspm(['/a', '/b', '/'])).errors).toHaveLength(1)
    expect((await kspm(['/a', 'b'])).errors).toEqual([expect.stringContaining('"b"')])
    expect((await kspm([])).warnings).toHaveLength(1)
  })
})

describe('log monitoring and telemetry ingest', () => {
  it('need an image only without a OneAgent', async () => {
    const withImage = (imageRef: object) =>
      errors({ logMonitoring: {}, activeGate: kubemon, templates: { logMonitoring: { imageRef } } })
    expect(await errors({ logMonitoring: {}, activeGate: kubemon })).toHaveLength(1)
    expect(await withImage({ repository: 'r' })).toHaveLength(1)
    expect(await withImage({ repository: 'r', tag: 't' })).toEqual([])
    expect(await errors({ logMonitoring: {}, activeGate: kubemon, oneAgent: { hostMonitoring: {} } })).toEqual([])
  })

  it('warn without Kubernetes monitoring and about an unused template', async () => {
    const spec = { logMonitoring: {}, oneAgent: { hostMonitoring: {} } }
    expect(await warnings(spec)).toHaveLength(1)
    expect(await warnings({ ...spec, templates: { logMonitoring: {} } })).toHaveLength(2)
  })

  const ingest = (telemetryIngest: object, cluster: LookupParts = {}) =>
    errors({ telemetryIngest, templates: images }, {}, cluster)

  it('know four protocols', async () => {
    expect(await ingest({})).toEqual([])
    expect(await ingest({ protocols: [] })).toEqual([])
    expect(await ingest({ protocols: ['OTLP'] })).toEqual([expect.stringContaining('"OTLP"')])
    expect(await ingest({ protocols: ['otlp', 'otlp'] })).toEqual([expect.stringContaining('"otlp"')])
  })

  it.each(['a'.repeat(64), '1a', 'x-activegate', 'x-extension-controller', 'x-telemetry-ingest', 'x-webhook'])(
    'cannot call the Service %s',
    async (serviceName) => {
      expect(await ingest({ serviceName })).toEqual([expect.stringContaining(`"${serviceName}"`)])
    },
  )

  it('cannot use the Service of another DynaKube', async () => {
    const other = dynakube({ telemetryIngest: {} }, { name: 'other' })
    const explicit = dynakube({ telemetryIngest: { serviceName: 'in' } }, { name: 'other' })
    expect((await ingest({ serviceName: 'other-telemetry-ingest' }, { dynakubes: [other] })).at(-1)).toContain('other')
    expect(await ingest({ serviceName: 'in' }, { dynakubes: [explicit] })).toEqual([
      expect.stringMatching(/"in".*other/),
    ])
  })
})

describe('deprecations', () => {
  it('warn about autoUpdate of agents', async () => {
    const annotations = { 'conversion.internal.dynatrace.com/auto-update': 'true' }
    expect(await warnings({ oneAgent: { hostMonitoring: {} } }, { annotations })).toHaveLength(1)
    expect(await warnings({ oneAgent: { applicationMonitoring: {} } }, { annotations })).toEqual([])
    expect(await warnings({ oneAgent: { hostMonitoring: {} } })).toEqual([])
    const plain = dynakube({ oneAgent: { hostMonitoring: {} } })
    const annotated = dynakube({ oneAgent: { hostMonitoring: {} } }, { annotations })
    expect((await validateDynaKube(annotated, lookups(), plain)).warnings).toHaveLength(1)
    expect((await validateDynaKube(plain, lookups(), annotated)).warnings).toEqual([])
  })

  it('warn about the host group as an argument', async () => {
    const hostMonitoring = { args: ['--set-host-group=arg'] }
    expect(await warnings({ oneAgent: { hostMonitoring } })).toHaveLength(1)
    expect(await warnings({ oneAgent: { hostMonitoring, hostGroup: 'g' } })).toHaveLength(1)
    expect(await warnings({ oneAgent: { hostMonitoring: {}, hostGroup: 'g' } })).toEqual([])
  })

  it.each(['oneagent-ignore-proxy', 'activegate-updates', 'disable-activegate-updates'])(
    'warn about the flag %s',
    async (flag) => {
      expect(await warnings({}, { flags: { [flag]: 'x' } })).toEqual([
        expect.stringContaining(`feature.dynatrace.com/${flag}`),
      ])
      expect(await warnings({}, { flags: { 'activegate-ignore-proxy': 'true' } })).toEqual([])
    },
  )

  it('warn about variables of the installer', async () => {
    const env = [{ name: 'ONEAGENT_INSTALLER_TOKEN', value: 'x' }]
    expect(await warnings({ oneAgent: { classicFullStack: { env } } })).toHaveLength(1)
  })
})
