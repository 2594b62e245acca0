import type { KubeObject } from '@reeve/kube'
import { describe, expect, it } from 'vitest'
import { DynaKubeCrd } from './dynakube/dynakube-crd.ts'
import { EdgeConnectCrd } from './edgeconnect/edgeconnect-crd.ts'
import { reviewBySchema } from './schema-review.ts'
import { dynakube, edgeConnect } from './testing/build.ts'

const review = (members: object) => reviewBySchema(DynaKubeCrd, 'v1beta6', { ...dynakube(), ...members } as KubeObject)

describe('a review by the schema', () => {
  it('does not change a valid object', () => {
    expect(reviewBySchema(DynaKubeCrd, 'v1beta6', dynakube())).toEqual({
      object: dynakube(),
      unknownFields: [],
      problems: [],
    })
  })

  it('drops unknown fields at every depth and names them', () => {
    const spec = {
      apiUrl: 'https://x/api',
      oneAgent: { hostMonitoring: { autoUpdate: true, env: [{ name: 'A', colour: 'red' }] } },
    }
    const { object, unknownFields, problems } = review({ spec, status: { mood: 'good' }, extra: 1 })
    expect(unknownFields).toEqual([
      'spec.oneAgent.hostMonitoring.autoUpdate',
      'spec.oneAgent.hostMonitoring.env[0].colour',
      'status.mood',
      'extra',
    ])
    expect(problems).toEqual([])
    expect(object).toMatchObject({ spec: { oneAgent: { hostMonitoring: { env: [{ name: 'A' }] } } }, status: {} })
    expect(JSON.stringify(object)).not.toContain('colour')
  })

  it('takes names that every object inherits for what they are', () => {
    const spec = JSON.parse('{"apiUrl": "https://x/api", "__proto__": {"a": 1}, "constructor": 2, "toString": 3}')
    const { object, unknownFields } = review({ spec })
    expect(unknownFields).toEqual(['spec.__proto__', 'spec.constructor', 'spec.toString'])
    expect(Object.keys((object as KubeObject & { readonly spec: object }).spec)).toEqual(['apiUrl'])
  })

  it('checks such names too where every name is allowed', () => {
    const requests = JSON.parse('{"__proto__": "much"}')
    const { problems } = review({ spec: { apiUrl: 'https://x/api', activeGate: { resources: { requests } } } })
    expect(problems.map(({ field }) => field)).toEqual(['spec.activeGate.resources.requests.__proto__'])
  })

  it('keeps labels of the user, of any name', () => {
    const { unknownFields } = review({
      spec: { apiUrl: 'https://x/api', activeGate: { labels: { 'example.com/a': 'b' } } },
    })
    expect(unknownFields).toEqual([])
  })

  it('takes null for absent where the schema does not allow it', () => {
    const spec = {
      apiUrl: 'https://x/api',
      tokens: null,
      activeGate: { labels: { a: null, b: 'c' } },
      oneAgent: { hostMonitoring: null },
    }
    const { object, problems } = review({ spec })
    expect(problems).toEqual([])
    expect(object).toHaveProperty('spec', {
      apiUrl: 'https://x/api',
      activeGate: { labels: { b: 'c' } },
      oneAgent: { hostMonitoring: null },
    })
  })

  it('fills in the defaults of the schema', () => {
    const { object } = reviewBySchema(EdgeConnectCrd, 'v1alpha1', {
      ...edgeConnect(),
      apiVersion: 'dynatrace.com/v1alpha1',
    })
    expect(object).toMatchObject({ spec: { replicas: 1, autoUpdate: true } })
  })

  it.each([
    ['no name', { metadata: {} }, 'metadata.name'],
    ['a name that is null', { metadata: { name: null, labels: null } }, 'metadata.name'],
    ['a name that is a number', { metadata: { name: 5 } }, 'metadata.name'],
    ['labels that are a list', { metadata: { name: 'a', labels: [] } }, 'metadata.labels'],
    ['a label that is not a string', { metadata: { name: 'a', labels: { x: 1 } } }, 'metadata.labels[x]'],
    [
      'an annotation that is not a string',
      { metadata: { name: 'a', annotations: { x: true } } },
      'metadata.annotations[x]',
    ],
    ['a spec that is a list', { spec: [] }, 'spec'],
    ['a missing apiUrl', { spec: {} }, 'spec.apiUrl'],
    [
      'a threshold that is too large',
      { spec: { apiUrl: 'https://x/api', dynatraceApiRequestThreshold: 70_000 } },
      'spec.dynatraceApiRequestThreshold',
    ],
  ])('refuses %s and names the field', (_, members, field) => {
    expect(review(members).problems.map((problem) => problem.field)).toEqual([field])
  })

  it('refuses a negative port of the proxy of an EdgeConnect', () => {
    const { problems } = reviewBySchema(EdgeConnectCrd, 'v1alpha2', edgeConnect({ proxy: { port: -1 } }))
    expect(problems.map(({ field }) => field)).toEqual(['spec.proxy.port'])
  })
})
