/** Which agents the status of a DynaKube lists after the operator had an outdated view of their pods. */
import { type Pod, Pods } from '@reeve/kube'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type ClosedStage, NAMESPACE, setClosedStage } from './support/closed-stage.ts'

let stage: ClosedStage
beforeAll(async () => {
  stage = await setClosedStage({ hasPods: true })
})
afterAll(() => stage?.[Symbol.asyncDispose]())

const agents = async (): Promise<readonly Pod[]> => {
  const { items } = await stage.client.list(Pods, { namespace: NAMESPACE })
  return items.filter(({ metadata }) => metadata.name.startsWith('cluster-oneagent-'))
}
const running = async () =>
  Object.fromEntries((await agents()).map(({ metadata, spec }) => [spec?.nodeName, metadata.name]))
const listed = async () => {
  const instances = Object.entries((await stage.read()).status?.oneAgent?.instances ?? {})
  return Object.fromEntries(instances.map(([node, { podName }]) => [node, podName]))
}

it('the status of OneAgents lists a replaced agent as soon as its pod is seen, although nothing else changes', {
  timeout: 60_000,
}, async () => {
  await stage.create({ oneAgent: { hostMonitoring: {} } })
  await stage.untilPhase('Running')
  await stage.settle()
  const before = await running()
  expect(await listed()).toEqual(before)

  const { faults } = stage.world.cluster
  faults.freeze('pods')
  await stage.client.delete(Pods, { namespace: NAMESPACE, name: before['node-1'] ?? '' })
  // The DaemonSet is ready again long before its new pod is seen: its events come too early.
  await stage.advance(60_000)
  const after = await running()
  expect(after['node-1']).not.toBe(before['node-1'])
  faults.thaw('pods')
  await stage.advance(10_000)
  expect(await listed()).toEqual(after)
})
