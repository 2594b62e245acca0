/** Webhook configurations: how they are written, merged and owned, and that no webhook is called for them. */
import { describe, expect, it } from 'vitest'
import { admissionWebhook } from './support/admission-webhook.ts'
import { clusterResourceOf } from './support/api-resource.ts'
import { applyConflict } from './support/apply-conflict.ts'
import { ConformanceApi, type Json, unique } from './support/conformance-api.ts'
import { ownersOf } from './support/owned-fields.ts'

const api = ConformanceApi.forThisFile()
const group = 'admissionregistration.k8s.io/v1'
const kinds = {
  validating: clusterResourceOf(api, group, 'ValidatingWebhookConfiguration', 'validatingwebhookconfigurations'),
  mutating: clusterResourceOf(api, group, 'MutatingWebhookConfiguration', 'mutatingwebhookconfigurations'),
}
type Kind = keyof typeof kinds
const both: Kind[] = ['validating', 'mutating']

/** A webhook that no request matches. */
const hook = (name: string, rest: Json = {}): Json => ({
  name: `${name}.example.com`,
  clientConfig: { url: 'https://127.0.0.1:1/review' },
  rules: [
    {
      operations: ['CREATE'],
      apiGroups: ['nobody.example.com'],
      apiVersions: ['v1'],
      resources: ['widgets'],
      scope: '*',
    },
  ],
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
  ...rest,
})
const namesIn = ({ webhooks }: Json): string[] => webhooks.map(({ name }: Json) => name)

/** Runs a case with a configuration that is deleted afterwards. */
async function withConfiguration(kind: Kind, webhooks: Json[], use: (name: string) => Promise<void>): Promise<void> {
  const name = unique(kind)
  await kinds[kind].given(name, { webhooks })
  try {
    await use(name)
  } finally {
    await kinds[kind].delete(name)
  }
}

describe.each(both)('a configuration of %s webhooks', (kind) => {
  const resource = kinds[kind]

  it('counts only changes of its webhooks as generations', async () => {
    await withConfiguration(kind, [hook('a')], async (name) => {
      const labelled = await resource.patch('merge', name, { metadata: { labels: { a: 'b' } } })
      expect(labelled.body.metadata.generation).toBe(1)
      const patch = { webhooks: [{ name: 'a.example.com', timeoutSeconds: 3 }] }
      const changed = await resource.patch('strategic', name, patch)
      expect(changed.body.metadata.generation).toBe(2)
    })
  })

  it('is merged by the names of its webhooks', async () => {
    await withConfiguration(kind, [hook('a'), hook('b')], async (name) => {
      const added = await resource.patch('strategic', name, { webhooks: [hook('c')] })
      expect(namesIn(added.body).sort()).toEqual(['a.example.com', 'b.example.com', 'c.example.com'])
      const removed = await resource.patch('strategic', name, {
        webhooks: [{ name: 'b.example.com', $patch: 'delete' }],
      })
      expect(namesIn(removed.body).sort()).toEqual(['a.example.com', 'c.example.com'])
    })
  })

  it('is owned webhook by webhook', async () => {
    const name = unique(kind)
    await resource.apply('alice', name, { webhooks: [hook('a')] })
    try {
      const { body } = await resource.apply('bob', name, { webhooks: [hook('b')] })
      expect(namesIn(body)).toEqual(['a.example.com', 'b.example.com'])
      expect(ownersOf(body)['alice Apply']).toContain('.webhooks[name="a.example.com"].clientConfig.url')
      const path = '.webhooks[name="a.example.com"].sideEffects'
      const taken = await resource.apply('bob', name, { webhooks: [hook('a', { sideEffects: 'NoneOnDryRun' })] })
      expect(taken.status).toBe(409)
      expect(taken.body).toEqual(applyConflict(['"alice"', path]))
      const left = await resource.apply('bob', name, {})
      expect(namesIn(left.body)).toEqual(['a.example.com'])
    } finally {
      await resource.delete(name)
    }
  })

  it('accepts a certificate in a webhook without changing the rest', async () => {
    await withConfiguration(kind, [hook('a')], async (name) => {
      const caBundle = Buffer.from('any bytes').toString('base64')
      const adding = (value: string) => [{ op: 'add', path: '/webhooks/0/clientConfig/caBundle', value }]
      const { status, body } = await resource.patch('json', name, adding(caBundle))
      expect(status).toBe(200)
      expect(body.webhooks[0].clientConfig).toEqual({ url: 'https://127.0.0.1:1/review', caBundle })
      expect((await resource.patch('json', name, adding('no base64!'))).status).toBe(422)
    })
  })

  it('is not sent to webhooks, so that a broken one can always be removed', async () => {
    await using asked = await admissionWebhook(api, 'validating', api.namespace, {
      rule: { apiGroups: ['*'], apiVersions: ['*'], resources: ['*'], scope: '*' },
      entry: { objectSelector: { matchLabels: { [api.namespace]: 'yes' } }, namespaceSelector: {} },
      probe: () =>
        api.post(`/api/v1/namespaces/${api.namespace}/configmaps?dryRun=All`, {
          metadata: { name: 'probe', labels: { [api.namespace]: 'yes' } },
        }),
      verdict: () => ({ allowed: false }),
    })
    const name = unique(kind)
    const metadata = { labels: { [api.namespace]: 'yes' } }
    expect((await resource.create(name, { metadata, webhooks: [hook('a')] })).status).toBe(201)
    expect((await resource.delete(name)).status).toBe(200)
    expect(asked.requests).toEqual([])
  })
})
