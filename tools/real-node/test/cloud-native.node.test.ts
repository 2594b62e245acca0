import { readFile } from 'node:fs/promises'
import type { TenantSimulator } from '@reeve/dynatrace/tenant/simulator'
import { eventually, SHELL_IMAGE } from '@reeve/real-node'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  deleteDynakube,
  dynakube,
  dynakubePhase,
  installChart,
  NAMESPACE,
  startTenant,
  uninstallChart,
} from './support/dynatrace.ts'
import { apply, exec, get, type Json, kubectl, list, podReady } from './support/kubectl.ts'

const APPS = 'apps'
const INSTALL_PATH = '/opt/dynatrace/oneagent-paas'

let simulator: TenantSimulator

beforeAll(async () => {
  simulator = await startTenant()
  await installChart()
  await kubectl('create', 'namespace', APPS)
})
afterAll(async () => {
  await kubectl('delete', 'namespace', APPS)
  await uninstallChart()
  await simulator.close()
})

describe('a DynaKube with cloudNativeFullStack and the CSI driver', () => {
  beforeAll(() => apply(...dynakube(simulator, 'dk', { oneAgent: { cloudNativeFullStack: {} } })))
  afterAll(() => deleteDynakube('dk'))

  it('lets troubleshoot find nothing wrong', async () => {
    const printed = await kubectl(
      'exec',
      '-n',
      NAMESPACE,
      'deployment/dynatrace-operator',
      '--',
      'dynatrace-operator',
      'troubleshoot',
    )
    expect(printed).toContain('dk')
  })

  it('runs the OneAgent, whose init container writes the metadata of the node', async () => {
    await dynakubePhase('dk', 'Running')
    const [agent] = await list('pods', NAMESPACE, '--selector', 'app.kubernetes.io/name=oneagent')
    const metadata = '/var/lib/dynatrace/enrichment/dt_node_metadata.properties'
    const printed = await exec(NAMESPACE, agent.metadata.name, '/bin/busybox', 'cat', metadata)
    expect(printed).toContain('k8s.node.name=node-1')
  })

  it('registers its driver with the kubelet', async () => {
    await eventually('the node has the driver', async () => {
      const node = await get('csinode', '', 'node-1')
      return (node?.spec.drivers ?? []).some((driver: Json) => driver.name === 'csi.oneagent.dynatrace.com')
    })
  })

  it('mounts code modules into a pod as an overlay and unmounts them with it', async () => {
    await eventually('the namespace is mapped', async () => {
      const namespace = await get('namespace', '', APPS)
      return namespace?.metadata.labels['dynakube.internal.dynatrace.com/instance'] === 'dk'
    })
    await apply(app('app'))
    const pod = await podReady(APPS, 'app')
    expect(pod.spec.initContainers.map((each: Json) => each.name)).toContain('dynatrace-operator')
    expect(await exec(APPS, 'app', 'ls', `${INSTALL_PATH}/agent/lib64`)).toContain('liboneagentproc.so')
    const variables = await exec(APPS, 'app', 'env')
    expect(variables).toContain(`LD_PRELOAD=${INSTALL_PATH}/agent/lib64/liboneagentproc.so`)
    expect(await exec(APPS, 'app', 'cat', '/proc/self/mounts')).toMatch(new RegExp(`^overlay ${INSTALL_PATH}`, 'm'))
    expect(await mountsOf(pod.metadata.uid)).not.toEqual([])

    await kubectl('delete', 'pod', 'app', '--namespace', APPS, '--timeout', '60s')
    await eventually('its volumes are unmounted', async () => (await mountsOf(pod.metadata.uid)).length === 0)
  })
})

/** A pod of a user. */
function app(name: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: APPS },
    spec: {
      containers: [{ name: 'app', image: SHELL_IMAGE, command: ['sleep', '100000'] }],
      terminationGracePeriodSeconds: 1,
    },
  }
}

/** Mounts of the node with the id of a pod. */
async function mountsOf(uid: string): Promise<readonly string[]> {
  return (await readFile('/proc/self/mounts', 'utf8')).split('\n').filter((line) => line.includes(uid))
}
