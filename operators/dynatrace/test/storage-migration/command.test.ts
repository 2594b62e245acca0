/** `crd-storage-migration` as the Job of the chart runs it. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCaptured } from '@reeve/cli/testing'
import { type EmbeddedCluster, startEmbeddedCluster } from '@reeve/embedded-cluster'
import { type CustomResourceDefinition, CustomResourceDefinitions, connect, type KubeClient } from '@reeve/kube'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { main } from '../../src/cli/main.ts'
import { crdManifests, DynaKubeCrd } from '../../src/index.ts'

const KEY = { name: DynaKubeCrd.name }

let cluster: EmbeddedCluster
let client: KubeClient
let folder: string
let kubeconfig: string
beforeAll(async () => {
  cluster = await startEmbeddedCluster({ authorization: 'AlwaysAllow', controllers: false })
  folder = await mkdtemp(join(tmpdir(), 'reeve-migration-'))
  kubeconfig = join(folder, 'kubeconfig')
  await cluster.writeKubeconfig(kubeconfig)
  client = await connect({ kubeconfig, env: {} })
})
afterAll(async () => {
  await client?.close()
  await cluster?.stop()
  await rm(folder, { recursive: true, force: true })
})

const migrate = () =>
  runCaptured(main, ['crd-storage-migration', '-n', 'dynatrace'], { env: { KUBECONFIG: kubeconfig } })

it('the command migrate-storage succeeds without a CRD, and with nothing to rewrite writes nothing', async () => {
  expect(await migrate()).toMatchObject({ code: 0, stdout: '' })
  const crd = crdManifests('dynatrace').find(({ metadata }) => metadata.name === KEY.name)
  // The manifest keeps its spec open; the cluster checks it.
  await client.create(CustomResourceDefinitions, crd as unknown as CustomResourceDefinition)
  const before = await client.get(CustomResourceDefinitions, KEY)
  expect(before.status?.storedVersions).toEqual(['v1beta6'])
  expect(await migrate()).toMatchObject({ code: 0, stdout: '' })
  expect((await client.get(CustomResourceDefinitions, KEY)).metadata.resourceVersion).toBe(
    before.metadata.resourceVersion,
  )
})

it('notes that only the new version is stored, once', async () => {
  const crd = await client.get(CustomResourceDefinitions, KEY)
  const storedVersions = ['v1beta4', 'v1beta5', 'v1beta6']
  const status = { ...crd.status, storedVersions }
  await client.update(CustomResourceDefinitions, { ...crd, status }, { subresource: 'status' })
  expect(await migrate()).toMatchObject({ code: 0, stdout: '' })
  expect((await client.get(CustomResourceDefinitions, KEY)).status?.storedVersions).toEqual(['v1beta6'])
})

it('the command migrate-storage exits 1 with one sentence when the CRD cannot be read', async () => {
  const denied = { kind: 'status', code: 403 } as const
  const undo = cluster.faults.inject({ resource: 'customresourcedefinitions.apiextensions.k8s.io' }, denied)
  const { code, stderr } = await migrate()
  undo()
  expect(code).toBe(1)
  expect(stderr.trimEnd().split('\n').at(-1)).toMatch(/^dynatrace-operator: .*dynakubes\.dynatrace\.com.*403/)
})
