import { crdManifest, defineConversion, defineCrd } from '@reeve/crd'
import { Pods } from '@reeve/kube'
import { allow, defineOperator, mutate, mutatingWebhook, validatingWebhook } from '@reeve/runtime'
import { conversionWebhook } from '@reeve/runtime/webhooks'
import { Type } from 'typebox'
import { describe, expect, it } from 'vitest'

const spec = Type.Object({ text: Type.String() })
const NoteCrd = defineCrd({
  group: 'example.com',
  kind: 'Note',
  plural: 'notes',
  scope: 'Namespaced',
  versions: { v1: { spec, storage: true }, v1beta1: { spec } },
})
const Notes = NoteCrd.resource('v1')
const convert = defineConversion(NoteCrd, 'v1', { v1beta1: { toHub: (note) => note, fromHub: (note) => note } })

const notes = defineOperator({
  name: 'notes',
  controllers: [{ for: Notes, render: () => [] }],
  crds: [crdManifest(NoteCrd)],
  webhooks: [
    mutatingWebhook('/mutate', () => allow(), { for: Notes, operations: ['CREATE'] }),
    validatingWebhook('/validate', () => allow(), { for: Notes }),
    validatingWebhook('/validate-pods', () => allow(), { for: Pods }),
    validatingWebhook('/by-hand', () => allow()),
    conversionWebhook('/convert', [{ group: 'example.com', kind: 'Note', convert }]),
  ],
})
const service = { namespace: 'ops', name: 'notes' }

describe('the webhook configurations of an operator', () => {
  it('follow from what its webhooks are for', () => {
    const { mutating, validating } = notes.webhookConfigurations({ location: { service } })
    expect(mutating).toEqual({
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingWebhookConfiguration',
      metadata: { name: 'notes' },
      webhooks: [
        {
          name: 'notes.example.com',
          admissionReviewVersions: ['v1'],
          sideEffects: 'None',
          failurePolicy: 'Fail',
          timeoutSeconds: 5,
          clientConfig: { service: { ...service, path: '/mutate' } },
          rules: [
            {
              apiGroups: ['example.com'],
              apiVersions: ['v1'],
              resources: ['notes'],
              operations: ['CREATE'],
              scope: 'Namespaced',
            },
          ],
        },
      ],
    })
    expect(validating?.webhooks?.map(({ name, clientConfig }) => [name, clientConfig.service?.path])).toEqual([
      ['notes.example.com', '/validate'],
      ['pods.core.k8s.io', '/validate-pods'],
    ])
  })

  it('can point to an operator outside the cluster', () => {
    const { validating } = notes.webhookConfigurations({ location: { url: 'https://127.0.0.1:9443' } })
    expect(validating?.webhooks?.[0]?.clientConfig).toEqual({ url: 'https://127.0.0.1:9443/validate' })
  })

  it('have unique names when two webhooks are for one resource', () => {
    const webhooks = ['/one', '/two'].map((path) => validatingWebhook(path, () => allow(), { for: Notes }))
    const operator = defineOperator({ name: 'notes', controllers: [], webhooks })
    const { validating, mutating } = operator.webhookConfigurations({ location: { service } })
    expect(validating?.webhooks?.map(({ name }) => name)).toEqual(['one.notes.example.com', 'two.notes.example.com'])
    expect(mutating).toBeUndefined()
  })
})

describe('the CRDs of an operator', () => {
  it('are converted by its conversion webhook', () => {
    expect(notes.crds({ service })[0]?.spec.conversion).toEqual({
      strategy: 'Webhook',
      webhook: { conversionReviewVersions: ['v1'], clientConfig: { service: { ...service, path: '/convert' } } },
    })
  })

  it('trust the authority of the webhook where that is known', () => {
    const [crd] = notes.crds({ url: 'https://notes.example.com', caBundle: 'PEM' })
    expect(crd?.spec.conversion?.webhook?.clientConfig).toEqual({
      url: 'https://notes.example.com/convert',
      caBundle: Buffer.from('PEM').toString('base64'),
    })
  })

  it('are not available without their conversion: applying them would lose data', () => {
    expect(() => notes.crds()).toThrow(
      'notes.example.com: converted by a webhook; pass its location, { service: { namespace, name } } or { url }',
    )
    const plain = defineOperator({ name: 'notes', controllers: [], crds: [crdManifest(NoteCrd)] })
    expect(plain.crds()[0]?.spec.conversion).toBeUndefined()
  })

  it('may be patched with the certificate by the operator', () => {
    const webhook = { secret: 'notes-tls', configurations: ['notes'] }
    expect(notes.rbac({ webhook }).clusterRole.rules).toContainEqual({
      apiGroups: ['apiextensions.k8s.io'],
      resources: ['customresourcedefinitions'],
      verbs: ['get', 'patch'],
      resourceNames: ['notes.example.com'],
    })
  })
})

it('a mutating webhook returns a changed copy without a cast', () => {
  type Note = NonNullable<(typeof Notes)['$type']>
  const route = mutatingWebhook<Note>('/mutate', ({ object }) =>
    object === undefined ? allow() : mutate({ ...object, spec: { ...object.spec, text: 'changed' } }),
  )
  expect(route.path).toBe('/mutate')
})
