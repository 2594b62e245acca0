import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type EmbeddedCluster, type EmbeddedClusterOptions, startEmbeddedCluster } from '../src/index.ts'
import { CONFIG_MAPS, configMap } from './support/in-process.ts'

let directory: string
const clusters: EmbeddedCluster[] = []

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'reeve-data-'))
})

afterEach(async () => {
  for (const cluster of clusters.splice(0)) await cluster.stop()
  rmSync(directory, { recursive: true, force: true })
})

async function open(options: EmbeddedClusterOptions = {}): Promise<EmbeddedCluster> {
  const cluster = await startEmbeddedCluster({
    listen: false,
    authorization: 'AlwaysAllow',
    controllers: false,
    dataDir: directory,
    ...options,
  })
  clusters.push(cluster)
  return cluster
}

test('objects, definitions, addresses and tokens survive a restart', async () => {
  const first = await open({ listen: true })
  const service = (name: string) => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: 'default' },
    spec: { ports: [{ port: 80 }] },
  })
  await first.api.create('services', service('a'))
  await first.api.create('serviceaccounts', {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: 'robot', namespace: 'default' },
  })
  await first.api.create('customresourcedefinitions.apiextensions.k8s.io', {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
  })
  const widget = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w', namespace: 'default' } }
  await first.api.create('widgets.example.com', widget)
  const token = await first.api.create(
    'serviceaccounts',
    {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      metadata: { name: 'robot', namespace: 'default' },
      spec: {},
    },
    { subresource: 'token' },
  )
  const before = first.api.list('services')
  const authority = first.caPem
  await first.stop()

  const second = await open({ listen: true })
  expect(second.api.list('services')).toEqual(before)
  expect(second.api.get('widgets.example.com', 'default', 'w')).toBeDefined()
  expect(second.caPem).toBe(authority)
  const other = await second.api.create('services', service('b'))
  const addresses = [...before, other].map(({ spec }) => (spec as { clusterIP: string }).clusterIP)
  expect(new Set(addresses).size).toBe(addresses.length)
  const { token: bearer } = token.status as { token: string }
  const headers = { authorization: `Bearer ${bearer}` }
  expect((await second.handle({ method: 'GET', path: '/version', headers })).status).toBe(200)
})

test('a watch from before a restart gets 410, so that clients list again', async () => {
  const first = await open()
  await first.api.create('configmaps', configMap('a', {}, { namespace: 'default' }))
  await first.stop()
  const second = await open()
  const response = await second.handle({ method: 'GET', path: `${CONFIG_MAPS}?watch=1&resourceVersion=2`, headers: {} })
  let text = ''
  for await (const chunk of response.body) text += Buffer.from(chunk).toString()
  expect(JSON.parse(text)).toMatchObject({ type: 'ERROR', object: { code: 410 } })
})

test('no acknowledged write is lost when the process is killed', async () => {
  const writer = new URL('./support/endless-writer.ts', import.meta.url).pathname
  const child: ChildProcess = spawn(process.execPath, [writer, directory], { stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  child.stdout?.setEncoding('utf8')
  child.stdout?.on('data', (chunk: string) => {
    output += chunk
    if (output.split('\n').length > 200) child.kill('SIGKILL')
  })
  await once(child, 'exit')
  // The last line may be truncated; every line before it was written after its write was acknowledged.
  const acknowledged = output.split('\n').slice(0, -1)
  expect(acknowledged.length).toBeGreaterThanOrEqual(200)
  const cluster = await open()
  const stored = new Set(cluster.api.list('configmaps').map(({ metadata }) => (metadata as { name: string }).name))
  expect(acknowledged.filter((name) => !stored.has(name))).toEqual([])
})
