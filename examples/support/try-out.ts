/** Runs an operator of an example on an embedded cluster, on a simulated clock. */
import { type EmbeddedCluster, startEmbeddedCluster } from '@reeve/embedded-cluster'
import {
  type Clock,
  type CustomResourceDefinition,
  CustomResourceDefinitions,
  createClient,
  type KubeClient,
} from '@reeve/kube'
import { SimulatedClock } from '@reeve/runtime/testing'

/** What the examples need of an operator. */
interface Runnable {
  crds(): readonly CustomResourceDefinition[]
  create(options: { readonly client: KubeClient; readonly clock: Clock }): {
    readonly manager: { run(signal: AbortSignal): Promise<void> }
  }
}

/** The cluster that an operator runs on. */
export interface World {
  readonly cluster: EmbeddedCluster
  readonly client: KubeClient
  /** Lets time pass; everything that is due happens. @default one second */
  pass(milliseconds?: number): Promise<void>
}

/** Runs the operators while `act` acts. */
export async function tryOut(operators: readonly Runnable[], act: (world: World) => Promise<void>): Promise<void> {
  const clock = new SimulatedClock()
  const cluster = await startEmbeddedCluster({ listen: false, authorization: 'AlwaysAllow', clock })
  const client = createClient({ clock, transport: cluster.transport })
  const stop = new AbortController()
  try {
    const crds = new Map(operators.flatMap((operator) => operator.crds().map((crd) => [crd.metadata.name, crd])))
    for (const crd of crds.values()) await client.create(CustomResourceDefinitions, crd)
    const running = operators.map((operator) => operator.create({ client, clock }).manager.run(stop.signal))
    await act({ cluster, client, pass: (milliseconds = 1_000) => clock.advance(milliseconds) })
    stop.abort()
    await clock.runToCompletion(Promise.all(running))
  } finally {
    stop.abort()
    await cluster.stop()
  }
}
