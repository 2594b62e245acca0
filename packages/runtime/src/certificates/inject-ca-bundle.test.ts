import { SimulatedClock } from '@reeve/http/testing'
import {
  type CustomResourceDefinition,
  CustomResourceDefinitions,
  type ValidatingWebhook,
  ValidatingWebhookConfigurations,
} from '@reeve/kube'
import { expect, test } from 'vitest'
import { MemoryCluster } from '../../test/support/memory-cluster.ts'
import { injectCaBundle } from './inject-ca-bundle.ts'

const BUNDLE = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n'
const ENCODED = Buffer.from(BUNDLE).toString('base64')

const webhook = (name: string, caBundle?: string): ValidatingWebhook => ({
  name,
  clientConfig: { url: `https://${name}`, ...(caBundle !== undefined && { caBundle }) },
  admissionReviewVersions: ['v1'],
  sideEffects: 'None',
})

async function setUp(webhooks: readonly ValidatingWebhook[]) {
  const cluster = new MemoryCluster(new SimulatedClock())
  const admin = cluster.client('admin')
  await admin.create(ValidatingWebhookConfigurations, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: 'webapp' },
    webhooks,
  })
  const bundles = () =>
    cluster.peek(ValidatingWebhookConfigurations, { name: 'webapp' })?.webhooks?.map((one) => one.clientConfig.caBundle)
  return { cluster, admin, client: cluster.client('operator'), bundles }
}

function definition(conversion: CustomResourceDefinition['spec']['conversion']): CustomResourceDefinition {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'webapps.example.com' },
    spec: {
      group: 'example.com',
      names: { kind: 'WebApp', plural: 'webapps' },
      scope: 'Namespaced',
      versions: [],
      ...(conversion && { conversion }),
    },
  }
}

test('only webhooks whose bundle differs are written, in one request', async () => {
  const { cluster, client, bundles } = await setUp([webhook('a'), webhook('b', ENCODED), webhook('c', 'b2xk')])
  const before = cluster.writes.length
  expect(await injectCaBundle(client, BUNDLE, { validating: ['webapp'] })).toEqual([
    { target: 'ValidatingWebhookConfiguration webapp', outcome: 'patched' },
  ])
  expect(bundles()).toEqual([ENCODED, ENCODED, ENCODED])
  expect(cluster.writes.length - before).toBe(1)
})

test('nothing is written when every bundle is right', async () => {
  const { cluster, client } = await setUp([webhook('a', ENCODED)])
  const before = cluster.writes.length
  const [result] = await injectCaBundle(client, BUNDLE, { validating: ['webapp'] })
  expect(result?.outcome).toBe('unchanged')
  expect(cluster.writes.length).toBe(before)
})

test('a list that was reordered meanwhile is not written, and reported', async () => {
  const { cluster, admin, bundles } = await setUp([webhook('a'), webhook('b', ENCODED)])
  const client = cluster.client('operator', {
    before: async ({ verb }) => {
      if (verb !== 'patch') return
      const webhooks = [webhook('b', ENCODED), webhook('a')]
      await admin.patch(ValidatingWebhookConfigurations, { name: 'webapp' }, { type: 'merge', patch: { webhooks } })
    },
  })
  const [result] = await injectCaBundle(client, BUNDLE, { validating: ['webapp'] })
  expect(result).toMatchObject({ outcome: 'failed', error: { code: 'KUBE_API' } })
  expect(bundles()).toEqual([ENCODED, undefined])
})

test('the conversion webhook of a definition gets the bundle, one without conversion is not changed', async () => {
  const { cluster, admin, client } = await setUp([])
  const name = 'webapps.example.com'
  const conversion = { clientConfig: { url: 'https://convert' }, conversionReviewVersions: ['v1'] }
  await admin.create(CustomResourceDefinitions, definition({ strategy: 'Webhook', webhook: conversion }))
  const [patched] = await injectCaBundle(client, BUNDLE, { customResourceDefinitions: [name] })
  expect(patched?.outcome).toBe('patched')
  const { spec } = cluster.peek(CustomResourceDefinitions, { name }) ?? {}
  expect(spec?.conversion?.webhook?.clientConfig).toEqual({ url: 'https://convert', caBundle: ENCODED })
  cluster.remove(CustomResourceDefinitions, { name })
  await admin.create(CustomResourceDefinitions, definition({ strategy: 'None' }))
  const [unchanged] = await injectCaBundle(client, BUNDLE, { customResourceDefinitions: [name] })
  expect(unchanged?.outcome).toBe('unchanged')
})

test('where only updates are allowed, whole objects are written, and a concurrent change is reported', async () => {
  const { cluster, admin, client, bundles } = await setUp([webhook('a'), webhook('b')])
  await admin.create(
    CustomResourceDefinitions,
    definition({
      strategy: 'Webhook',
      webhook: { clientConfig: { url: 'https://convert' }, conversionReviewVersions: ['v1'] },
    }),
  )
  const targets = { validating: ['webapp'], customResourceDefinitions: ['webapps.example.com'] }
  const results = await injectCaBundle(client, BUNDLE, targets, { verb: 'update' })
  expect(results.map(({ outcome }) => outcome)).toEqual(['patched', 'patched'])
  expect(bundles()).toEqual([ENCODED, ENCODED])
  const { spec } = cluster.peek(CustomResourceDefinitions, { name: 'webapps.example.com' }) ?? {}
  expect(spec?.conversion?.webhook?.clientConfig).toEqual({ url: 'https://convert', caBundle: ENCODED })

  const late = cluster.client('operator', {
    before: async ({ verb }) => {
      const patch = { metadata: { labels: { touched: 'yes' } } }
      if (verb === 'update')
        await admin.patch(ValidatingWebhookConfigurations, { name: 'webapp' }, { type: 'merge', patch })
    },
  })
  const [result] = await injectCaBundle(late, `${BUNDLE}${BUNDLE}`, { validating: ['webapp'] }, { verb: 'update' })
  expect(result).toMatchObject({ outcome: 'failed', error: { status: 409 } })
  expect(bundles()).toEqual([ENCODED, ENCODED])
})
