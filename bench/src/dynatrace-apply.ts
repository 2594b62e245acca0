/** From the creation of a DynaKube with everything to its last object, beside the same writes sent bare. */
import {
  clusterIdOf,
  createDynatraceOperator,
  type DynaKube,
  DynaKubes,
  type DynatraceOperatorOptions,
} from '@reeve/dynatrace'
import { sleep, type Transport } from '@reeve/http'
import { createClient, type KubeClient, Namespaces, type Stored } from '@reeve/kube'
import { issueAuthority } from '@reeve/runtime/certificates'
import type { ReconcileRecord } from '@reeve/runtime/controller'
import type { ClusterKind } from './bench-cluster.ts'
import { BARE_NAMESPACE, type DynatraceStage, fullDynaKube, NAMESPACE, startDynatraceStage } from './dynatrace-stage.ts'
import {
  isOfObject,
  type RecordedWrite,
  RecordingTransport,
  relocated,
  repeat,
  transportTo,
  undo,
  withTransport,
} from './recorded-writes.ts'
import type { Result } from './result.ts'

/** The first round warms up. */
const ROUNDS = 3

/** Done when nothing was reconciled for this long; the time of the last write is what counts. */
const QUIET_MS = 500

/** How many DynaKubes the operator reconciles concurrently. */
const WORKERS = 4

/** One DynaKube at a time, then `count` together; each with generated keys, and with existing keys. */
export async function dynatraceApply(kind: ClusterKind, count: number): Promise<readonly Result[]> {
  const ids = Array.from({ length: count }, (_, index) => `t${String(index).padStart(3, '0')}`)
  await using stage = await startDynatraceStage(kind, ids)
  const validity = { nowMs: Date.now(), validityMs: 86_400_000 }
  const pair = await issueAuthority('bench', validity)
  return [
    ...(await playAll(stage, kind, count, { selfSigned: async () => pair }, 'existing keys')),
    ...(await playAll(stage, kind, count, {}, 'RSA keys of 4096 bits generated for each')),
  ]
}

async function playAll(
  stage: DynatraceStage,
  kind: ClusterKind,
  count: number,
  options: Pick<DynatraceOperatorOptions, 'selfSigned'>,
  note: string,
): Promise<readonly Result[]> {
  const rounds: Round[] = []
  for (let round = 0; round <= ROUNDS; round += 1) rounds.push(await playRound(stage, options, 1))
  const one = resultOf(`a DynaKube with everything (${kind})`, medianOf(rounds.slice(1)), note)
  const many = resultOf(`${count} DynaKubes together (${kind})`, await playRound(stage, options, count), note)
  return [one, many]
}

interface Round {
  readonly operatorMs: number
  readonly bareMs: number
  readonly writes: number
}

function resultOf(name: string, { operatorMs, bareMs, writes }: Round, note: string): Result {
  const result = {
    name,
    figure: `${operatorMs.toFixed(0)} ms to the last object`,
    beside: `${bareMs.toFixed(0)} ms for the same ${writes} writes`,
    ratio: operatorMs / bareMs,
    note: `lower is better; ${note}`,
  }
  console.error(`  ${name}, ${note}: ${result.figure}, ${result.beside}`)
  return result
}

function medianOf(rounds: readonly Round[]): Round {
  const sorted = rounds.toSorted((left, right) => left.operatorMs / left.bareMs - right.operatorMs / right.bareMs)
  const middle = sorted[Math.floor(sorted.length / 2)]
  if (middle === undefined) throw new Error('no round was played')
  return middle
}

/**
 * The operator first, then its writes again; both are undone. The operator has ended by then: it watches all namespaces
 * and would remove the labels that are written again for unknown DynaKubes.
 */
async function playRound(
  stage: DynatraceStage,
  options: Pick<DynatraceOperatorOptions, 'selfSigned'>,
  count: number,
): Promise<Round> {
  const { operatorMs, owners, writes } = await playOperator(stage, options, count)
  const bareMs = await withTransport(stage.cluster.kubeconfigPath, async (bare) => {
    await undo(writes, bare)
    return repeatBare(stage, bare, owners, writes)
  })
  return { operatorMs, bareMs, writes: writes.length }
}

interface Played {
  readonly operatorMs: number
  readonly owners: readonly Stored<DynaKube>[]
  readonly writes: readonly RecordedWrite[]
}

async function playOperator(
  stage: DynatraceStage,
  options: Pick<DynatraceOperatorOptions, 'selfSigned'>,
  count: number,
): Promise<Played> {
  const { kubeconfigPath } = stage.cluster
  await withTransport(kubeconfigPath, (transport) => createTeams(createClient({ transport }), count))
  await using operator = await startOperator(stage, options)
  const { start, owners } = await withTransport(kubeconfigPath, async (transport) => {
    const client = createClient({ transport, fieldManager: 'bench' })
    const start = performance.now()
    return { start, owners: await inParallel(count, (index) => create(client, stage, NAMESPACE, index, count)) }
  })
  await operator.untilQuiet(owners)
  const writes = upToLastObject(operator.writes.filter(({ endedMs }) => endedMs > start))
  await withTransport(kubeconfigPath, (transport) =>
    createClient({ transport }).deleteCollection(DynaKubes, { namespace: NAMESPACE }),
  )
  await operator.untilGone(owners)
  return { operatorMs: (writes.at(-1)?.endedMs ?? Number.NaN) - start, owners, writes }
}

const nameOf = (namespace: string, index: number): string => `${namespace}-${String(index).padStart(3, '0')}`

async function createTeams(client: KubeClient, count: number): Promise<void> {
  for (const namespace of [NAMESPACE, BARE_NAMESPACE]) {
    for (let index = 0; index < count; index += 1) {
      const team = nameOf(namespace, index)
      const metadata = { name: `team-${team}`, labels: { team } }
      await client.apply(
        Namespaces,
        { apiVersion: 'v1', kind: 'Namespace', metadata },
        { fieldManager: 'bench', force: true },
      )
    }
  }
}

async function create(
  client: KubeClient,
  { tenants }: DynatraceStage,
  namespace: string,
  index: number,
  count: number,
): Promise<Stored<DynaKube>> {
  const tenant = tenants[index]
  if (tenant === undefined) throw new Error(`tenant ${index} does not exist`)
  return client.create(DynaKubes, fullDynaKube(tenant, { namespace, name: nameOf(namespace, index) }, count === 1))
}

function upToLastObject(writes: readonly RecordedWrite[]): readonly RecordedWrite[] {
  return writes.slice(0, writes.findLastIndex(isOfObject) + 1)
}

/** As many concurrently as the operator reconciles, each a DynaKube with its writes in their order; all are undone. */
async function repeatBare(
  stage: DynatraceStage,
  bare: Transport,
  owners: readonly Stored<DynaKube>[],
  writes: readonly RecordedWrite[],
): Promise<number> {
  const client = createClient({ transport: bare, fieldManager: 'bench' })
  const sent: RecordedWrite[] = []
  const start = performance.now()
  await inParallel(owners.length, async (index) => {
    const from = nameOf(NAMESPACE, index)
    const { metadata } = await create(client, stage, BARE_NAMESPACE, index, owners.length)
    const own = relocated(
      writes.filter(({ path, body }) => path.includes(from) || body.includes(from)),
      { word: [NAMESPACE, BARE_NAMESPACE], uid: [owners[index]?.metadata.uid ?? '', metadata.uid] },
    )
    sent.push(...own)
    await repeat(own, bare, metadata.resourceVersion)
  })
  const durationMs = performance.now() - start
  await undo(sent, bare)
  await client.deleteCollection(DynaKubes, { namespace: BARE_NAMESPACE })
  return durationMs
}

interface RunningOperator extends AsyncDisposable {
  readonly writes: readonly RecordedWrite[]
  /** Waits until each has been reconciled without a write. */
  untilQuiet(owners: readonly Stored<DynaKube>[]): Promise<void>
  /** Waits until the end of each has been noticed. */
  untilGone(owners: readonly Stored<DynaKube>[]): Promise<void>
}

async function startOperator(
  { cluster, client }: DynatraceStage,
  options: Pick<DynatraceOperatorOptions, 'selfSigned'>,
): Promise<RunningOperator> {
  const transport = new RecordingTransport(await transportTo(cluster.kubeconfigPath))
  const operatorClient = createClient({ transport, fieldManager: 'dynatrace-operator' })
  const records: ReconcileRecord[] = []
  let onRecord: () => void = () => undefined
  const { manager, cache } = createDynatraceOperator({
    client: operatorClient,
    namespace: NAMESPACE,
    clusterId: await clusterIdOf(client),
    operator: { version: '1.0.0', image: 'registry.example.com/operator:1.0.0', hasCsiDriver: true },
    detectsHostAvailability: true,
    issuesCertificates: false,
    ...options,
    onReconcile(record) {
      records.push(record)
      onRecord()
    },
  })
  const stop = new AbortController()
  const running = manager.run(stop.signal)
  await cache.waitForSync(stop.signal)
  const until = (isOver: () => boolean) =>
    new Promise<void>((resolve) => {
      onRecord = () => {
        if (isOver()) resolve()
      }
      onRecord()
    })
  const reconciles = () => records.filter(({ controller }) => controller === 'dynakube-controller')
  const lastOf = ({ metadata }: DynaKube) => reconciles().findLast(({ key }) => key.name === metadata.name)
  const isDone = (owner: DynaKube) => {
    const last = lastOf(owner)
    return last !== undefined && last.error === undefined
  }
  const untilQuiet = async (owners: readonly Stored<DynaKube>[]): Promise<void> => {
    let seen: number
    do {
      await until(() => owners.every(isDone))
      seen = reconciles().length
      await sleep(QUIET_MS)
    } while (reconciles().length > seen)
  }
  // Only an existing DynaKube is reconciled again after some time.
  const isGone = (owner: DynaKube) => lastOf(owner)?.outcome === 'success'
  return {
    writes: transport.writes,
    untilQuiet,
    untilGone: (owners) => until(() => owners.every(isGone)),
    async [Symbol.asyncDispose]() {
      stop.abort()
      await running
      await operatorClient.close()
    },
  }
}

async function inParallel<T>(count: number, work: (index: number) => Promise<T>): Promise<T[]> {
  const results = new Array<T>(count)
  let next = 0
  const worker = async () => {
    for (let index = next++; index < count; index = next++) results[index] = await work(index)
  }
  await Promise.all(Array.from({ length: WORKERS }, worker))
  return results
}
