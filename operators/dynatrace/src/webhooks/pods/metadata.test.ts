/** Enrichment: workload, and metadata of the namespace. */
import { describe, expect, it } from 'vitest'
import {
  argsOf,
  both,
  CLOUD_NATIVE,
  ENRICHMENT,
  enrichment,
  envOf,
  initOf,
  inject,
  inputOf,
  readyDynaKube,
  withArgument,
} from './testing/build.ts'

describe('enrichment', () => {
  it('only needs no code modules and keeps the small resources', () => {
    const annotations = { 'oneagent.dynatrace.com/inject': 'false', 'metadata-enrichment.dynatrace.com/inject': 'true' }
    const result = inject(inputOf(both, { annotations }))
    expect(argsOf(result)).toContain('--metadata-enrichment')
    expect(withArgument(result, '--target')).toEqual([])
    expect(initOf(result)?.resources).toEqual({
      requests: { cpu: '30m', memory: '30Mi' },
      limits: { cpu: '100m', memory: '60Mi' },
    })
    expect(envOf(result)).toEqual({})
  })

  it('names the workload in arguments and annotations', () => {
    const result = inject(inputOf(enrichment))
    expect(withArgument(result, '--attribute=k8s.workload')).toEqual([
      '--attribute=k8s.workload.kind=deployment',
      '--attribute=k8s.workload.name=shop',
    ])
    expect(result.pod.metadata.annotations).toMatchObject({
      'metadata.dynatrace.com/k8s.workload.kind': 'deployment',
      'metadata.dynatrace.com/k8s.workload.name': 'shop',
    })
  })

  it('follows its own selector, independent of that of code modules', () => {
    const selector = { matchLabels: { team: 'a' } }
    const dynakube = readyDynaKube({
      oneAgent: { cloudNativeFullStack: { namespaceSelector: selector } },
      metadataEnrichment: { enabled: true, namespaceSelector: { matchLabels: { team: 'b' } } },
    })
    const result = inject(inputOf(dynakube, {}, { namespace: { labels: { team: 'b' } } }))
    expect(result.pod.metadata.annotations).toMatchObject({ 'metadata-enrichment.dynatrace.com/injected': 'true' })
    expect(result.pod.metadata.annotations).not.toHaveProperty(['oneagent.dynatrace.com/injected'])
  })

  it('is off with automatic injection, except where a pod enables it', () => {
    const manual = readyDynaKube({ ...CLOUD_NATIVE, ...ENRICHMENT }, { flags: { 'automatic-injection': 'false' } })
    expect(inject(inputOf(manual)).outcome).toBe('notInjected')
    const asking = inject(inputOf(manual, { annotations: { 'metadata-enrichment.dynatrace.com/inject': 'true' } }))
    expect(asking.outcome).toBe('injected')
    expect(withArgument(asking, '--target')).toEqual([])
  })
})

describe('metadata of the namespace', () => {
  const rules = [
    { type: 'LABEL', source: 'a', target: 'dt.x' },
    { type: 'LABEL', source: 'b' },
    { type: 'ANNOTATION', source: 'c' },
  ]
  const ruled = readyDynaKube(ENRICHMENT, { status: { metadataEnrichment: { rules } } })

  it('follows the rules of the tenant', () => {
    const result = inject(inputOf(ruled, {}, { namespace: { labels: { a: '1', b: '<2>' }, annotations: { c: '3' } } }))
    expect(result.pod.metadata.annotations).toMatchObject({
      'metadata.dynatrace.com/dt.x': '1',
      'metadata.dynatrace.com':
        '{"dt.x":"1","k8s.namespace.annotation.c":"3","k8s.namespace.label.b":"\\u003c2\\u003e"}',
    })
    expect(argsOf(result)).toEqual(
      expect.arrayContaining([
        '--attribute=dt.x=1',
        '--attribute=k8s.namespace.label.b=<2>',
        '--attribute=k8s.namespace.annotation.c=3',
      ]),
    )
  })

  it.each([undefined, '', 'label', 'Annotation', 'POD_LABEL', ' LABEL'])(
    'ignores a rule of the type %j, of which only another release knows the meaning',
    (type) => {
      const unknown = ['dt.x', undefined].map((target) => ({
        source: 'a',
        ...(type && { type }),
        ...(target && { target }),
      }))
      const rules = [...unknown, { type: 'ANNOTATION', source: 'a', target: 'dt.y' }]
      const dynakube = readyDynaKube(ENRICHMENT, { status: { metadataEnrichment: { rules } } })
      const result = inject(inputOf(dynakube, {}, { namespace: { labels: { a: '1' }, annotations: { a: '2' } } }))
      expect(result.pod.metadata.annotations).toMatchObject({ 'metadata.dynatrace.com': '{"dt.y":"2"}' })
      expect(argsOf(result).filter((argument) => /=[12]$/.test(argument))).toEqual(['--attribute=dt.y=2'])
    },
  )

  it('yields to annotations of the pod, and comes from annotations only', () => {
    const key = 'metadata.dynatrace.com/k'
    const result = inject(
      inputOf(
        enrichment,
        { annotations: { [key]: 'pod' } },
        { namespace: { annotations: { [key]: 'namespace' }, labels: { 'metadata.dynatrace.com/l': 'label' } } },
      ),
    )
    expect(result.pod.metadata.annotations).toMatchObject({ [key]: 'pod', 'metadata.dynatrace.com': '{"k":"pod"}' })
    expect(argsOf(result)).toContain('--attribute=k=pod')
    expect(result.pod.metadata.annotations).not.toHaveProperty(['metadata.dynatrace.com/l'])
  })

  it('does not become an annotation that the API server rejects', () => {
    const odd = readyDynaKube(ENRICHMENT, {
      status: { metadataEnrichment: { rules: [{ type: 'LABEL', source: 'a', target: 'not a name!' }] } },
    })
    const result = inject(inputOf(odd, {}, { namespace: { labels: { a: '1' } } }))
    expect(Object.keys(result.pod.metadata.annotations ?? {}).join()).not.toContain('not a name')
    expect(argsOf(result)).toContain('--attribute=not a name!=1')
  })

  it('is left out together with everything else when the annotations would grow too large', () => {
    const annotations = { big: 'x'.repeat(256 * 1024 - 4) }
    const input = inputOf(both, { annotations })
    const result = inject(input)
    expect(result.pod).toBe(input.pod)
    expect(result.failures).toMatchObject([{ reason: 'AnnotationsTooLarge' }])
  })

  it('beats the computed workload, because its argument comes later', () => {
    const annotations = {
      'metadata.dynatrace.com/k8s.workload.name': 'mine',
      'metadata.dynatrace.com/dt.kubernetes.workload.name': 'old',
    }
    const names = withArgument(inject(inputOf(enrichment, { annotations })), '--attribute=').filter((argument) =>
      argument.includes('workload.name'),
    )
    expect(names).toEqual([
      '--attribute=k8s.workload.name=shop',
      '--attribute=dt.kubernetes.workload.name=old',
      '--attribute=k8s.workload.name=mine',
    ])
  })
})
