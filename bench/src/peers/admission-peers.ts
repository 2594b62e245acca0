/** The webhooks of our operator and of the one that it replaces, both as processes on one API server. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type DynaKube, DynaKubes } from '@reeve/dynatrace'
import { Namespaces, Pods, ReplicaSets, Secrets, ServiceAccounts } from '@reeve/kube'
import { issueAuthority, issueServing } from '@reeve/runtime/certificates'
import { SCENARIOS } from '../admission.ts'
import { type DynatraceStage, NAMESPACE, startDynatraceStage } from '../dynatrace-stage.ts'
import { freePort } from '../free-port.ts'
import { dynakube, namespace, namespaceName, podReview } from '../injection-world.ts'
import type { Result } from '../result.ts'
import { CONNECTIONS, compare, connectTo, type ServerConnections } from '../tls-load.ts'
import type { DynatraceOperator } from './dynatrace-operators.ts'
import { startOperator } from './operator-process.ts'
import { spread } from './spread.ts'

const POD = 'webhook'
/** Namespaces with one Deployment each, and a DynaKube for each. */
const TEAMS = 20
const CONFIGURATION = [
  'dynatrace-bootstrapper-config',
  'dynatrace-bootstrapper-certs',
  'dynatrace-otlp-exporter-config',
  'dynatrace-otlp-exporter-certs',
]
const START_DEADLINE_MS = 60_000

/** Reviews per second and the 99th percentile, in turns. */
export async function admissionBesidePeer(
  ours: DynatraceOperator,
  peer: DynatraceOperator,
  roundMs: number,
): Promise<readonly Result[]> {
  await using stage = await startDynatraceStage('real', [])
  const authority = await prepareCluster(stage)
  await using own = await startWebhooks(ours, stage, authority)
  await using other = await startWebhooks(peer, stage, authority)
  const pods = Array.from({ length: TEAMS }, (_, index) => podReview(index))
  const results: Result[] = []
  for (const { name, path, bodies } of [
    ...SCENARIOS.map(({ name, path, body }) => ({ name, path, bodies: [body] })),
    { name: 'injection of a pod', path: '/inject', bodies: pods },
  ]) {
    console.error(name)
    for (const server of [own, other]) await requireWork(server, path, bodies[0] ?? Buffer.alloc(0))
    const { own: measured, bare, rounds } = await compare(own, other, { path, bodies, roundMs })
    const spreadOf = (side: 'own' | 'bare', figure: 'perSecond' | 'p99Ms', digits: number, unit: string) =>
      spread(
        rounds.map((round) => round[side][figure]),
        digits,
        unit,
      )
    results.push(
      {
        name: `${name}, per second`,
        figure: spreadOf('own', 'perSecond', 0, ''),
        beside: `${spreadOf('bare', 'perSecond', 0, '')} ${peer.name}`,
        ratio: measured.perSecond / bare.perSecond,
        note: `higher is better; ${CONNECTIONS} connections; target: 1.0 or more`,
      },
      {
        name: `${name}, p99`,
        figure: spreadOf('own', 'p99Ms', 1, 'ms'),
        beside: `${spreadOf('bare', 'p99Ms', 1, 'ms')} ${peer.name}`,
        ratio: measured.p99Ms / bare.p99Ms,
        note: 'lower is better; target: 1.0 or less',
      },
    )
  }
  return results
}

/** A review that is rejected, or a pod that is not injected, takes no time. */
async function requireWork(server: ServerConnections, path: string, body: Buffer): Promise<void> {
  const text = (await server.post(path, body)).toString()
  const { response } = JSON.parse(text)
  const hasWorked = path === '/convert' ? response.result.status === 'Success' : response.allowed === true
  if (!hasWorked || (path === '/inject' && response.patch === undefined)) {
    throw new Error(`${path} did not do its work: ${text.slice(0, 500)}`)
  }
}

/** Creates what the webhooks read, and returns the authority behind their certificate. */
async function prepareCluster({ client }: DynatraceStage): Promise<string> {
  const validity = { nowMs: Date.now(), validityMs: 86_400_000 }
  const authority = await issueAuthority('bench', validity)
  const { certificate, privateKey } = await issueServing(authority, ['127.0.0.1'], validity)
  const data = { 'tls.crt': certificate, 'tls.key': privateKey, 'ca.crt': authority.certificate }
  await client.create(Secrets, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace: NAMESPACE, name: 'dynatrace-webhook-certs' },
    data: Object.fromEntries(Object.entries(data).map(([name, text]) => [name, Buffer.from(text).toString('base64')])),
  })
  // No controller creates it here.
  await client.create(ServiceAccounts, {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { namespace: NAMESPACE, name: 'default' },
  })
  const containers = [{ name: 'webhook', image: 'registry.example.com/operator:1.0.0' }]
  await client.create(Pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: NAMESPACE, name: POD },
    spec: { containers },
  })
  for (let index = 0; index < TEAMS; index++) {
    await client.create(Namespaces, namespace(index))
    const team = namespaceName(index)
    for (const name of CONFIGURATION) {
      await client.create(Secrets, { apiVersion: 'v1', kind: 'Secret', metadata: { namespace: team, name } })
    }
    const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: `uid-${index}`, controller: true }
    const labels = { app: 'web' }
    await client.create(ReplicaSets, {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: { namespace: team, name: 'web-5d4f', ownerReferences: [owner] },
      spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } },
    })
    const { status, ...wanted } = dynakube(index)
    const metadata = { ...wanted.metadata, namespace: NAMESPACE }
    const created = await client.create(DynaKubes, { ...wanted, metadata } as DynaKube)
    await client.update(DynaKubes, { ...created, ...(status && { status }) }, { subresource: 'status' })
  }
  return authority.certificate
}

async function startWebhooks(operator: DynatraceOperator, stage: DynatraceStage, authority: string) {
  const folder = await mkdtemp(join(tmpdir(), 'reeve-webhook-'))
  const port = await freePort()
  const { env, ...command } = operator.command(stage, 'webhook-server', ['--certs-dir', folder])
  const address = async () => `127.0.0.1:${await freePort()}`
  const running = await startOperator({
    ...command,
    env: {
      ...env,
      POD_NAME: POD,
      WEBHOOK_PORT: String(port),
      METRICS_BIND_ADDRESS: await address(),
      HEALTH_PROBE_BIND_ADDRESS: await address(),
    },
  })
  const connections = connectTo({ port, authority })
  const stop = async () => {
    connections.close()
    await running[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  }
  try {
    await untilServing(connections, () => running.usage())
  } catch (error) {
    await stop()
    throw error
  }
  return { ...connections, [Symbol.asyncDispose]: stop }
}

async function untilServing(server: ServerConnections, requireRunning: () => Promise<unknown>): Promise<void> {
  const { path, body } = SCENARIOS[0]
  const deadline = performance.now() + START_DEADLINE_MS
  for (;;) {
    await requireRunning()
    try {
      await server.post(path, body)
      return
    } catch (error) {
      if (performance.now() > deadline) throw error
      await pause(100)
    }
  }
}
