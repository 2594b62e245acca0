/** A cluster on a simulated clock with the WebApp operator on it: minutes pass in milliseconds. */
import { crdManifest } from '@reeve/crd'
import { type EmbeddedCluster, startEmbeddedCluster } from '@reeve/embedded-cluster'
import { CustomResourceDefinitions, createClient, type KubeClient, type ObjectMeta } from '@reeve/kube'
import { RuntimeError } from '@reeve/runtime'
import { SimulatedClock, seededRandom } from '@reeve/runtime/testing'
import {
  createWebAppOperator,
  type Phase,
  type WebApp,
  WebAppCrd,
  type WebAppOperator,
  type WebAppOperatorOptions,
  WebApps,
} from '../../src/index.ts'

/** An operator that runs, and how to end it. */
export interface RunningOperator extends WebAppOperator {
  /** Ends it in order, as SIGTERM does. */
  stop(): Promise<void>
  /** Disconnects it from the API server silently, as a lost node does. */
  kill(): void
  /** Restores the connection of one that was killed; returns the code of the error it ends with. */
  revive(): Promise<string>
}

/** What a test plays on. */
export interface Stage {
  readonly clock: SimulatedClock
  readonly cluster: EmbeddedCluster
  readonly client: KubeClient
  startOperator(options?: Partial<WebAppOperatorOptions>): RunningOperator
  /** Advances the clock until the WebApp has the phase; fails with what it has instead. */
  untilPhase(name: string, phase: Phase): Promise<WebApp>
  /** Advances the clock until the condition holds. */
  until(condition: () => boolean | Promise<boolean>): Promise<void>
  close(): Promise<void>
}

/** Longest time a test waits, on the simulated clock. */
const PATIENCE_MS = 30 * 60_000

/** Sets the stage: a cluster with three nodes and the CRD, nothing else. */
export async function setStage(): Promise<Stage> {
  const clock = new SimulatedClock()
  const random = seededRandom(1)
  const cluster = await startEmbeddedCluster({ listen: false, authorization: 'AlwaysAllow', clock, random, nodes: 3 })
  const connect = (userAgent: string, isCut: () => boolean = () => false) =>
    createClient({
      clock,
      random,
      userAgent,
      transport: {
        async send(request) {
          // A cut connection never responds; the client's deadlines and the watchdog must notice.
          if (isCut())
            return new Promise((_, reject) =>
              request.signal?.addEventListener('abort', () => reject(request.signal?.reason)),
            )
          return cluster.handle(request)
        },
        close: async () => undefined,
      },
    })
  const client = connect('test')
  // The manifest is what the server accepts; the built-in type spells its schema out.
  await client.create(CustomResourceDefinitions, crdManifest(WebAppCrd))
  const operators = new Set<RunningOperator>()
  const until = (condition: () => boolean | Promise<boolean>) => clock.runUntil(condition, { maxMs: PATIENCE_MS })

  const stage: Stage = {
    clock,
    cluster,
    client,
    until,
    startOperator(options = {}) {
      let isCut = false
      const ending = new AbortController()
      const operator = createWebAppOperator({
        client: connect(options.leaderElection?.identity ?? 'operator', () => isCut),
        clock,
        random,
        ...options,
      })
      const running = operator.manager.run(ending.signal)
      // A failure is reported when the test stops the operator; until then it must not be unhandled.
      running.catch(() => undefined)
      const handle: RunningOperator = {
        ...operator,
        async stop() {
          operators.delete(handle)
          ending.abort()
          await clock.runToCompletion(running, { maxMs: PATIENCE_MS })
        },
        kill() {
          isCut = true
        },
        async revive() {
          operators.delete(handle)
          isCut = false
          const end = running.then(
            () => 'none',
            (error: unknown) => (error instanceof RuntimeError ? error.code : String(error)),
          )
          return clock.runToCompletion(end, { maxMs: PATIENCE_MS })
        },
      }
      operators.add(handle)
      return handle
    },
    async untilPhase(name, phase) {
      const read = () => cluster.api.get('webapps.example.com', 'default', name) as unknown as WebApp | undefined
      await until(() => read()?.status?.phase === phase).catch((error: unknown) => {
        throw new Error(`WebApp ${name} is ${JSON.stringify(read()?.status)} instead of ${phase}`, { cause: error })
      })
      return client.get(WebApps, { namespace: 'default', name })
    },
    async close() {
      for (const operator of operators) await operator.stop().catch(() => undefined)
      await cluster.stop()
    },
  }
  return stage
}

/** A WebApp as a user writes it: defaults are left to the server. */
export function written(name: string, spec: Partial<WebApp['spec']> = {}, metadata: ObjectMeta = {}): WebApp {
  return {
    apiVersion: 'example.com/v1',
    kind: 'WebApp',
    metadata: { name, namespace: 'default', ...metadata },
    // What is left out has a default in the schema.
    spec: { image: 'nginx:1.29', replicas: 2, ...spec } as WebApp['spec'],
  }
}

/** The key of a WebApp and of everything it owns. */
export function keyOf(name: string) {
  return { namespace: 'default', name }
}
