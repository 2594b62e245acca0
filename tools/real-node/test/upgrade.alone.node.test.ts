import { readdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { TenantSimulator } from '@reeve/dynatrace/tenant/simulator'
import { eventually, type LayoutRegistry } from '@reeve/real-node'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { APPS, app, deleteApp, INSTALL_PATH, initContainers, mapped, mountsOf, startApp } from './support/apps.ts'
import {
  changeChart,
  chartReady,
  deleteDynakube,
  dynakube,
  installChart,
  NAMESPACE,
  startTenant,
  uninstallChart,
} from './support/dynatrace.ts'
import { apply, exec, get, kubectl, list, podReady } from './support/kubectl.ts'
import { DRIVER_DATA, driverMounts, nodeState } from './support/node-state.ts'
import { serveNextRelease } from './support/operator-image.ts'

const NEXT = 'next'
const MAX_PODS = 12

let simulator: TenantSimulator
let next: LayoutRegistry
let before: readonly string[]

beforeAll(async () => {
  simulator = await startTenant()
  next = await serveNextRelease(NEXT)
  before = await nodeState()
  await installChart()
  await kubectl('create', 'namespace', APPS)
  await apply(...dynakube(simulator, 'dk', { oneAgent: { applicationMonitoring: {} } }))
  await mapped('dk')
})
afterAll(async () => {
  await simulator.close()
  await next[Symbol.asyncDispose]()
})

it('the chart upgrades operator, webhook and driver while injected pods run and others start', async () => {
  const running = await startApp('running')
  const mounts = await mountsOf(running)
  const image = next.reference('dynatrace-operator')
  const values = [`imageRef.repository=${image.slice(0, -NEXT.length - 1)}`, `imageRef.tag=${NEXT}`]
  let isReady = false
  const upgrading = changeChart(...values)
    .then(() => chartReady(...values))
    .finally(() => {
      isReady = true
    })
  const created: string[] = []
  while (!isReady && created.length < MAX_PODS) {
    const name = `during-${created.length}`
    await apply(app(name))
    created.push(name)
    await eventually('the pod is assigned to the node', async () => (await get('pod', APPS, name))?.spec.nodeName)
  }
  await upgrading
  const during = await Promise.all(created.map((name) => podReady(APPS, name)))
  expect(during.filter((pod) => !initContainers(pod).includes('dynatrace-operator'))).toEqual([])
  // Pods of the release before may still be ending.
  await eventually('only the next release runs', async () => {
    const containers = (await list('pods', NAMESPACE)).flatMap(({ spec }) => spec.containers)
    return containers.every((container: { image: string }) => container.image === image)
  })

  const still = await podReady(APPS, 'running')
  expect(still.status.containerStatuses).toEqual(running.status.containerStatuses)
  expect(await mountsOf(running)).toEqual(mounts)
  expect(await exec(APPS, 'running', 'ls', `${INSTALL_PATH}/agent/lib64`)).toContain('liboneagentproc.so')
  const after = await startApp('after')
  expect(after.spec.initContainers[0].image).toBe(image)
  // The new driver unmounts what the one before it has mounted.
  await Promise.all([running, after, ...during].map(deleteApp))
  expect(await driverMounts()).toEqual([])
})

it('the chart leaves nothing on the node when it is uninstalled', async () => {
  const pod = await startApp('last')
  expect(await mountsOf(pod)).not.toEqual([])
  await deleteDynakube('dk')
  await deleteApp(pod)
  await eventually('the agents are deleted', async () => !(await readdir(DRIVER_DATA)).includes('codemodules'))
  await uninstallChart()
  await kubectl('delete', 'namespace', APPS, NAMESPACE)
  // The kubelet creates them for the volumes of the driver, and keeps them.
  const kept = [dirname(DRIVER_DATA), DRIVER_DATA]
  const isExpected = (line: string) => before.includes(line) || kept.includes(line)
  await eventually('the node is as it was before', async () => {
    const left = (await nodeState()).filter((line) => !isExpected(line))
    if (left.length > 0) throw new Error(left.join('\n'))
    return true
  })
})
