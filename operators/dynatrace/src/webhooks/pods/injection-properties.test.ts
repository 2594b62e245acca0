import type { Container, EnvVar, KubeObject } from '@reeve/kube'
import { jsonDiff } from '@reeve/runtime/webhooks'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { InjectablePod } from './injection-input.ts'
import { readPod } from './pod-shape.ts'
import { arbitraryInjection } from './testing/arbitrary-injection.ts'
import { app, inject } from './testing/build.ts'

/** Variables that injection adds to, and the one that it moves to the end. */
const EXTENDED = new Set(['LD_PRELOAD', 'NO_PROXY', 'NO_PROXY'.toLowerCase()])
const MOVED = 'OTEL_RESOURCE_ATTRIBUTES'
/** Replaced where the DynaKube enables it. */
const isExporter = ({ name }: EnvVar) => name.startsWith('OTEL_EXPORTER_OTLP_')
/** Replaced wherever exporters are configured. */
const isToken = ({ name }: EnvVar) => name === 'DT_API_TOKEN'

function expectKept(before: Container, after: Container | undefined, mayOverride: boolean): void {
  const { env = [], volumeMounts = [], args = [], ...rest } = before
  expect(after).toMatchObject(rest)
  expect(after?.volumeMounts?.slice(0, volumeMounts.length) ?? []).toEqual(volumeMounts)
  expect(after?.args?.slice(0, args.length) ?? []).toEqual(args)
  const remaining = [...(after?.env ?? [])]
  for (const variable of env.filter(({ name }) => name !== MOVED)) {
    const index = remaining.findIndex(({ name }) => name === variable.name)
    const found = remaining[index]
    remaining.splice(index, 1)
    if (isToken(variable) || (mayOverride && isExporter(variable))) expect(found?.name).toBe(variable.name)
    else if (EXTENDED.has(variable.name) && variable.valueFrom === undefined) {
      expect(found?.value ?? '').toContain(variable.value ?? '')
    } else expect(found).toEqual(variable)
  }
}

function expectUsersPart(before: InjectablePod, after: InjectablePod, mayOverride: boolean): void {
  const { containers, initContainers = [], volumes = [], ...rest } = before.spec
  expect(after.spec).toMatchObject(rest)
  expect(after.spec.volumes?.slice(0, volumes.length) ?? []).toEqual(volumes)
  for (const [index, container] of containers.entries())
    expectKept(container, after.spec.containers[index], mayOverride)
  for (const [index, container] of initContainers.entries()) {
    expectKept(container, after.spec.initContainers?.[index], mayOverride)
  }
  expect(after.spec.containers).toHaveLength(containers.length)
  const results = /\/(injected|reason)$|^metadata\.dynatrace\.com\/k8s\.workload/
  const kept = Object.entries(before.metadata.annotations ?? {}).filter(([key]) => !results.test(key))
  expect(after.metadata.annotations ?? {}).toMatchObject(Object.fromEntries(kept))
}

function expectConsistent({ spec }: InjectablePod): void {
  const names = spec.volumes?.map(({ name }) => name) ?? []
  const volumes = new Set(names)
  expect(volumes.size).toBe(names.length)
  for (const { volumeMounts = [] } of [...spec.containers, ...(spec.initContainers ?? [])]) {
    expect(new Set(volumeMounts.map(({ mountPath }) => mountPath)).size).toBe(volumeMounts.length)
    expect(volumeMounts.filter(({ name }) => !volumes.has(name))).toEqual([])
  }
}

it('for any pod, namespace and DynaKube: injection is idempotent, user settings are kept, and failures change no spec', () => {
  fc.assert(
    fc.property(arbitraryInjection, ({ input, facts }) => {
      const once = inject(input, facts)
      const { pod, outcome } = once
      if (outcome === 'notInjected' || outcome === 'skipped') expect(pod.spec).toBe(input.pod.spec)
      if (outcome === 'unchanged' || outcome === 'skipped') expect(pod).toBe(input.pod)
      expectUsersPart(input.pod, pod, input.dynakube.spec.otlpExporterConfiguration?.overrideEnvVars === true)
      expectConsistent(pod)
      const twice = inject({ ...input, pod }, facts)
      expect(jsonDiff(pod, twice.pod)).toEqual([])
    }),
    { numRuns: 2_000 },
  )
})

describe('a pod that is not one', () => {
  const valid = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: { containers: [app()] } }

  it.each([
    [{ ...valid, kind: 'Node' }, 'expected Pod of v1'],
    [{ ...valid, spec: undefined }, 'spec must be an object'],
    [{ ...valid, spec: { containers: {} } }, 'spec.containers must be a list'],
    [{ ...valid, spec: { containers: [null] } }, 'spec.containers[0] must be an object'],
    [{ ...valid, spec: { containers: [app({ env: [{ name: 5 }] as never })] } }, 'spec.containers[0].env[0].name'],
    [{ ...valid, metadata: { annotations: { a: 1 } } }, 'metadata.annotations[a]'],
    [{ ...valid, spec: { ...valid.spec, volumes: ['v'] } }, 'spec.volumes[0] must be an object'],
    [{ ...valid, spec: { ...valid.spec, securityContext: { runAsUser: 'root' } } }, 'spec.securityContext.runAsUser'],
  ])('is refused by naming the field: %j', (object, message) => {
    expect(readPod(object as unknown as KubeObject)).toEqual({ problem: expect.stringContaining(message) })
  })

  it('never makes injection throw: what can be read can be injected', () => {
    const anything = fc.jsonValue({ maxDepth: 4 })
    const damaged = fc
      .tuple(arbitraryInjection, fc.constantFrom('env', 'volumeMounts', 'args', 'image', 'securityContext'), anything)
      .map(([{ input, facts }, field, value]) => {
        const [first, ...others] = input.pod.spec.containers
        const spec = { ...input.pod.spec, containers: [{ ...first, [field]: value }, ...others] }
        // What anyone could send.
        return { input, facts, pod: { ...input.pod, spec } as unknown as KubeObject }
      })
    fc.assert(
      fc.property(damaged, ({ input, facts, pod }) => {
        const read = readPod(pod)
        if ('pod' in read) inject({ ...input, pod: read.pod }, facts)
      }),
      { numRuns: 500 },
    )
  })
})
