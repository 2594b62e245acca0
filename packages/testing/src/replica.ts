/** One running copy of an operator, with a connection that a test can cut. */
import type { EmbeddedCluster } from '@reeve/embedded-cluster'
import { type Clock, type Transport, untilAborted } from '@reeve/http'
import type { SimulatedClock } from '@reeve/http/testing'
import { createClient, type KubeClient } from '@reeve/kube'
import type { ReconcileRecord } from '@reeve/runtime/controller'
import type { Logger } from '@reeve/runtime/logging'

/** What a world gives to the operator. */
export interface InMemoryOptions {
  readonly client: KubeClient
  readonly clock: Clock
  readonly random: () => number
  readonly logger: Logger
  readonly onReconcile: (record: ReconcileRecord) => void
}

/** An operator before it runs. */
export interface CreatedForTest {
  readonly manager: { run(signal: AbortSignal): Promise<void> }
  readonly controllers?: readonly WorkingController[]
}

/** A controller as far as its work shows from outside. */
export interface WorkingController {
  readonly name: string
  readonly depth: number
  readonly inProgress: number
}

/** What replicas of one world share. */
export interface ReplicaParts extends Omit<InMemoryOptions, 'client' | 'clock'> {
  readonly cluster: EmbeddedCluster
  readonly clock: SimulatedClock
}

/** More requests than this without any time passing are a loop that no simulated time would ever end. */
const MAX_REQUESTS_AT_ONE_INSTANT = 20_000

const MAX_RECORDS = 1_000

/** Keeps the last records. */
export function remember(records: ReconcileRecord[], record: ReconcileRecord): void {
  records.push(record)
  if (records.length > MAX_RECORDS) records.shift()
}

/** The longest that the end of an operator may take. */
const PATIENCE_MS = 3_600_000

/** A running operator. `World.start` starts another one beside it, as a Deployment with several replicas does. */
export class Replica<Created extends CreatedForTest = CreatedForTest> {
  /** What `create` of the operator returned. */
  readonly operator: Created
  /** Who its requests come from, as the cluster logs them. */
  readonly userAgent: string
  /** Its last reconciles, oldest first; at most 1,000. */
  readonly reconciles: readonly ReconcileRecord[]
  readonly #clock: SimulatedClock
  readonly #stopping = new AbortController()
  readonly #running: Promise<void>
  #isConnected = true
  #hasEnded = false
  /** Whether the test may have caused its end. */
  #isEndExpected = false
  #failure: unknown
  #excess: string | undefined

  constructor(
    userAgent: string,
    create: (options: InMemoryOptions) => Created,
    { cluster, ...environment }: ReplicaParts,
  ) {
    const { clock, random } = environment
    const reconciles: ReconcileRecord[] = []
    const onReconcile = (record: ReconcileRecord) => {
      environment.onReconcile(record)
      remember(reconciles, record)
    }
    this.reconciles = reconciles
    this.userAgent = userAgent
    this.#clock = clock
    const client = createClient({ clock, random, userAgent, transport: this.#connect(cluster.transport) })
    this.operator = create({ ...environment, onReconcile, client })
    this.#running = this.operator.manager.run(this.#stopping.signal)
    this.#running
      .catch((error: unknown) => {
        this.#failure = error ?? new Error('the operator ended')
      })
      .finally(() => {
        this.#hasEnded = true
      })
  }

  get isRunning(): boolean {
    return !this.#hasEnded && !this.#stopping.signal.aborted
  }

  /** Disconnects it from the API server without its knowledge, as a lost node does: requests get no response. */
  disconnect(): void {
    this.#isEndExpected = true
    this.#isConnected = false
  }

  reconnect(): void {
    this.#isConnected = true
  }

  /** Ends it in order, as SIGTERM does. *Errors*: what it ended with. */
  async stop(): Promise<void> {
    this.#isEndExpected = true
    this.#stopping.abort()
    await this.#clock.runToCompletion(this.#running, { maxMs: PATIENCE_MS })
  }

  /** Ends it without giving it the chance to send anything. */
  kill(): void {
    this.disconnect()
    this.#stopping.abort()
  }

  /** Lets time pass until it ends by itself, and returns its error. */
  async ended(): Promise<unknown> {
    this.#isEndExpected = true
    const end = this.#running.catch((error: unknown) => error)
    return this.#clock.runToCompletion(end, { maxMs: PATIENCE_MS })
  }

  /** What it ended with, if the test cannot have caused that. */
  get failure(): unknown {
    return this.#isEndExpected ? undefined : this.#failure
  }

  /** Why its requests get no response any more. */
  get excess(): string | undefined {
    return this.#excess
  }

  #connect(transport: Transport): Transport {
    let atMs = this.#clock.now()
    let requests = 0
    return {
      send: (request) => {
        requests = this.#clock.now() === atMs ? requests + 1 : 1
        atMs = this.#clock.now()
        if (requests > MAX_REQUESTS_AT_ONE_INSTANT) {
          const { method, path } = request
          this.#excess ??= `${MAX_REQUESTS_AT_ONE_INSTANT} requests while no time passed, the last: ${method} ${path}`
        }
        // Without a response a loop ends, and the test can say what happened.
        if (this.#isConnected && this.#excess === undefined) return transport.send(request)
        return untilAborted(new Promise(() => undefined), request.signal)
      },
      close: async () => undefined,
    }
  }
}
