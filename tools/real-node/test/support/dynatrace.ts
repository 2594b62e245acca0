/** A Dynatrace tenant beside the cluster, and the operator installed by its chart. */
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  simulatorManifests,
  startTenantSimulator,
  type TenantOptions,
  type TenantSimulator,
} from '@reeve/dynatrace/tenant/simulator'
import { eventually, NODE_IP, runProgram, trustRegistry } from '@reeve/real-node'
import { addAgentImages } from './agent-images.ts'
import { get, helm, type Json, kubectl, kubectlBytes, list } from './kubectl.ts'
import { imageRepository } from './node-images.ts'

const chart = fileURLToPath(new URL('../../../../operators/dynatrace/chart', import.meta.url))

/** Namespace and name of the release. */
export const NAMESPACE = 'dynatrace'
const RELEASE = 'dynatrace-operator'

/** The tenant. */
export const TENANT = 'abc12345'

/** Starts a tenant that pods can reach, whose images the node can pull. */
export async function startTenant(options: Omit<TenantOptions, 'id'> = {}): Promise<TenantSimulator> {
  const tenants = [{ id: TENANT, ...options }]
  const simulator = await startTenantSimulator({ host: NODE_IP, tls: { hosts: [NODE_IP] }, tenants })
  await addAgentImages(simulator, TENANT)
  await trustRegistry(
    process.env.REEVE_NODE_REGISTRIES ?? '',
    `https://${simulator.authority}`,
    simulator.caCertificate,
  )
  return simulator
}

/** Installs or upgrades the chart, and waits until everything that it contains is ready. Later values win. */
export async function installChart(...values: readonly string[]): Promise<void> {
  await changeChart(...values)
  await chartReady(...values)
}

/** Installs or upgrades the chart without waiting. */
export async function changeChart(...values: readonly string[]): Promise<void> {
  const settings = [`imageRef.repository=${imageRepository('dynatrace-operator')}`, ...values].flatMap((value) => [
    '--set',
    value,
  ])
  await helm('upgrade', '--install', RELEASE, chart, '--namespace', NAMESPACE, '--create-namespace', ...settings)
}

/** Waits until everything that the chart contains is ready. */
export async function chartReady(...values: readonly string[]): Promise<void> {
  await rolledOut('deployment/dynatrace-operator')
  await rolledOut('deployment/dynatrace-webhook')
  if (!values.includes('csidriver.enabled=false')) await rolledOut('daemonset/dynatrace-oneagent-csi-driver')
}

/** Waits for a workload of the release. */
async function rolledOut(workload: string): Promise<void> {
  try {
    await kubectl('rollout', 'status', workload, '--namespace', NAMESPACE, '--timeout', '280s')
  } catch (error) {
    const pods = await kubectl('describe', 'pods', '--namespace', NAMESPACE)
    throw new Error(`${error instanceof Error ? error.message : error}\n${pods}`)
  }
}

/** Uninstalls the chart and waits until its pods are gone. */
export async function uninstallChart(): Promise<void> {
  await helm('uninstall', RELEASE, '--namespace', NAMESPACE, '--ignore-not-found', '--wait')
  await eventually('the pods of the release are gone', async () => (await list('pods', NAMESPACE)).length === 0)
}

/** Secret, authority and DynaKube of the tenant. */
export function dynakube(simulator: TenantSimulator, name: string, spec: Json, annotations = {}): readonly object[] {
  const [secret = {}, authority = {}] = simulatorManifests(simulator, TENANT, { name, namespace: NAMESPACE })
  return [
    secret,
    authority,
    {
      apiVersion: 'dynatrace.com/v1beta6',
      kind: 'DynaKube',
      metadata: { name, namespace: NAMESPACE, annotations },
      spec: { apiUrl: simulator.url(TENANT), trustedCAs: `${name}-ca`, ...spec },
    },
  ]
}

/** Deletes a DynaKube and waits until it is gone. */
export async function deleteDynakube(name: string): Promise<void> {
  await kubectl('delete', 'dynakube', name, '--namespace', NAMESPACE, '--ignore-not-found', '--timeout', '280s')
  await eventually('its pods are gone', async () => {
    const pods = await list('pods', NAMESPACE, '--selector', `app.kubernetes.io/created-by=${name}`)
    return pods.length === 0
  })
}

/** Waits for the phase of a DynaKube, and returns it. *Errors*: with its status. */
export async function dynakubePhase(name: string, phase: string): Promise<Json> {
  let last: Json
  try {
    return await eventually(`DynaKube ${name} is ${phase}`, async () => {
      last = await get('dynakube', NAMESPACE, name)
      return last?.status?.phase === phase && last
    })
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : error}\n${JSON.stringify(last?.status, undefined, 1)}`)
  }
}

/** Runs a subcommand in the pod of the operator and returns what it prints. */
export async function inOperator(...args: readonly string[]): Promise<string> {
  return `${await inOperatorBytes(...args)}`
}

function inOperatorBytes(...args: readonly string[]): Promise<Buffer> {
  const command = ['dynatrace-operator', ...args]
  return kubectlBytes('exec', '--namespace', NAMESPACE, 'deployment/dynatrace-operator', '--', ...command)
}

/** Collects a support archive in the pod of the operator and unpacks it; returns the folder. */
export async function supportArchive(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'support-archive-'))
  const file = join(folder, 'archive.zip')
  await writeFile(file, await inOperatorBytes('support-archive', '--stdout'))
  await runProgram(process.env.REEVE_NODE_BUSYBOX ?? '', ['unzip', '-q', file, '-d', folder])
  return folder
}
