import { readFile } from 'node:fs/promises'
import { type AnyCrd, objectSchema, type StructuralSchema } from '@reeve/crd'
import { describe, expect, it } from 'vitest'
import { CRDS, crdManifests } from './crd-manifests.ts'
import { DynaKubeCrd } from './dynakube/dynakube-crd.ts'
import { EdgeConnectCrd } from './edgeconnect/edgeconnect-crd.ts'
import { fieldPaths } from './testing/field-paths.ts'

const golden = async (name: string) =>
  (await readFile(new URL(`golden/${name}`, import.meta.url), 'utf8')).trimEnd().split('\n')

const pathsOf = (crd: AnyCrd, version: string) => fieldPaths(objectSchema(crd, version))

describe('the schemas', () => {
  it.each([
    [DynaKubeCrd, 'v1beta6', 'dynakube-v1beta6-fields.txt'],
    [EdgeConnectCrd, 'v1alpha2', 'edgeconnect-v1alpha2-fields.txt'],
  ] as const)('of $name in %s have exactly the specified fields', async (crd, version, file) => {
    expect(pathsOf(crd, version)).toEqual((await golden(file)).sort())
  })

  it('of older DynaKubes differ from v1beta6 as specified', () => {
    const latest = pathsOf(DynaKubeCrd, 'v1beta6')
    const gone = (version: string) => topmost(without(latest, pathsOf(DynaKubeCrd, version)))
    const extra = (version: string) => topmost(without(pathsOf(DynaKubeCrd, version), latest))
    const autoUpdate = ['classicFullStack', 'cloudNativeFullStack', 'hostMonitoring'].map(
      (mode) => `spec.oneAgent.${mode}.autoUpdate`,
    )
    const since6 = ['spec.otlpExporterConfiguration', 'spec.templates.sqlExtensionExecutor', 'status.conditions']
    const databases = ['spec.extensions.databases', 'spec.extensions.prometheus']
    const hostModes = ['classicFullStack', 'cloudNativeFullStack', 'hostMonitoring']
    const updates = [
      'spec.activeGate.imagePullPolicy',
      'spec.activeGate.rollingUpdate',
      ...hostModes.map((mode) => `spec.oneAgent.${mode}.imagePullPolicy`),
      ...hostModes.map((mode) => `spec.oneAgent.${mode}.rollingUpdate`),
      'spec.oneAgent.applicationMonitoring.codeModulesImagePullPolicy',
      'spec.oneAgent.cloudNativeFullStack.codeModulesImagePullPolicy',
      'spec.templates.logMonitoring.rollingUpdate',
    ]
    expect(gone('v1beta5')).toEqual([...databases, ...since6, ...updates].sort())
    expect(extra('v1beta5')).toEqual([...autoUpdate, 'status.conditions'])
    const since5 = ['spec.activeGate.volumeClaimTemplate', ...databases, 'spec.kspm.mappedHostPaths', ...since6]
    expect(gone('v1beta4')).toEqual([...since5, ...updates, 'status.proxyURLHash'].sort())
    const rule = 'status.metadataEnrichment.rules[].enabled'
    expect(extra('v1beta4')).toEqual([
      'spec.activeGate.persistentVolumeClaim',
      ...autoUpdate,
      'status.conditions',
      rule,
    ])
    expect(extra('v1beta3')).toEqual([...autoUpdate, 'status.conditions', rule])
    expect(gone('v1beta3')).toEqual(
      [
        ...since5,
        ...updates,
        'status.proxyURLHash',
        'spec.activeGate.terminationGracePeriodSeconds',
        'spec.activeGate.useEphemeralVolume',
        ...['classicFullStack', 'cloudNativeFullStack', 'hostMonitoring'].map(
          (mode) => `spec.oneAgent.${mode}.storageHostPath`,
        ),
        'spec.telemetryIngest',
      ].sort(),
    )
  })

  it('explain every field', () => {
    const silent = CRDS.flatMap((crd) =>
      Object.keys(crd.versions).flatMap((version) => undescribed(`${crd.kind} ${version}`, objectSchema(crd, version))),
    )
    expect(silent).toEqual([])
  })

  it('show how a repository is written', () => {
    const example = (crd: AnyCrd, version: string, ...path: string[]) =>
      path.reduce<StructuralSchema | undefined>((node, name) => node?.properties?.[name], objectSchema(crd, version))
        ?.example
    const repository = ['imageRef', 'repository']
    expect(example(DynaKubeCrd, 'v1beta6', 'spec', 'templates', 'otelCollector', ...repository)).toBe(
      'docker.io/dynatrace/image-name',
    )
    expect(example(EdgeConnectCrd, 'v1alpha1', 'spec', ...repository)).toBe('docker.io/dynatrace/edgeconnect')
  })
})

describe('the manifests', () => {
  const [dynakube, edgeconnect] = crdManifests('monitoring')

  it('name group, kinds, short names, category and scope', () => {
    expect(dynakube?.metadata.name).toBe('dynakubes.dynatrace.com')
    expect(dynakube?.spec).toMatchObject({
      group: 'dynatrace.com',
      scope: 'Namespaced',
      names: {
        kind: 'DynaKube',
        listKind: 'DynaKubeList',
        plural: 'dynakubes',
        singular: 'dynakube',
        shortNames: ['dk', 'dks'],
        categories: ['dynatrace'],
      },
    })
    expect(edgeconnect?.metadata.name).toBe('edgeconnects.dynatrace.com')
    expect(edgeconnect?.spec.names).toEqual({
      kind: 'EdgeConnect',
      listKind: 'EdgeConnectList',
      plural: 'edgeconnects',
      singular: 'edgeconnect',
      shortNames: ['ec', 'ecs'],
      categories: ['dynatrace'],
    })
  })

  it('serve all versions and store the newest; v1beta3 is deprecated', () => {
    const summary = (versions: unknown) =>
      (versions as { name: string; served: boolean; storage: boolean; deprecated?: boolean }[]).map(
        ({ name, served, storage, deprecated }) =>
          [name, served && 'served', storage && 'stored', deprecated && 'deprecated'].filter(Boolean).join(' '),
      )
    expect(summary(dynakube?.spec.versions)).toEqual([
      'v1beta6 served stored',
      'v1beta5 served',
      'v1beta4 served',
      'v1beta3 served deprecated',
    ])
    expect(summary(edgeconnect?.spec.versions)).toEqual(['v1alpha2 served stored', 'v1alpha1 served'])
  })

  it('are converted by the webhook of the operator', () => {
    for (const manifest of [dynakube, edgeconnect]) {
      expect(manifest?.metadata.annotations).toEqual({ 'controller-gen.kubebuilder.io/version': 'v0.19.0' })
      expect(manifest?.spec.conversion).toEqual({
        strategy: 'Webhook',
        webhook: {
          conversionReviewVersions: ['v1', 'v1beta1'],
          clientConfig: { service: { namespace: 'monitoring', name: 'dynatrace-webhook', path: '/convert' } },
        },
      })
    }
  })
})

function without(lines: readonly string[], others: readonly string[]): readonly string[] {
  const excluded = new Set(others)
  return lines.filter((line) => !excluded.has(line))
}

/** Paths without those below another one of the list. */
function topmost(lines: readonly string[]): readonly string[] {
  const paths = lines.map((line) => line.replace(/[!?]*: .*$/, '')).sort()
  const kept: string[] = []
  for (const path of paths) {
    if (!kept.some((other) => path.startsWith(other) && /^[.[{]/.test(path.slice(other.length)))) kept.push(path)
  }
  return kept
}

function undescribed(path: string, schema: StructuralSchema): readonly string[] {
  const members = Object.entries(schema.properties ?? {}).flatMap(([name, member]) => [
    ...(member.description === undefined && name !== 'metadata' ? [`${path}.${name}`] : []),
    ...undescribed(`${path}.${name}`, member),
  ])
  return schema.items ? [...members, ...undescribed(`${path}[]`, schema.items)] : members
}
