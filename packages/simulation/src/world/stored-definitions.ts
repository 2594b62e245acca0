/** The CustomResourceDefinitions of operators as a server stores them: created once, adopted by every world. */
import { setImmediate } from 'node:timers/promises'
import { type JsonObject, startEmbeddedCluster } from '@reeve/embedded-cluster'
import { SimulatedClock } from '@reeve/http/testing'
import { CustomResourceDefinitions, createClient } from '@reeve/kube'
import { seededRandom } from '@reeve/runtime/testing'
import { manifestOf } from '../crd-manifests.ts'
import type { OperatorUnderTest } from '../operator-under-test.ts'

type Definitions = OperatorUnderTest['crds']

const RESOURCE = 'customresourcedefinitions.apiextensions.k8s.io'

/** Turns of the event loop until the status of a definition is written: it takes one or two. */
const MAX_TURNS = 1_000

/** What is read-only may be shared: a schema of a thousand fields takes longer to check than a run of a small operator. */
const stored = new WeakMap<Definitions, Promise<readonly JsonObject[]>>()

/**
 * The definitions, validated, defaulted and established, to be adopted by any number of clusters.
 *
 * *Errors*: whatever the server rejects them with.
 */
export function storedDefinitions(crds: Definitions): Promise<readonly JsonObject[]> {
  let definitions = stored.get(crds)
  if (definitions === undefined) {
    definitions = store(crds)
    stored.set(crds, definitions)
  }
  return definitions
}

async function store(crds: Definitions): Promise<readonly JsonObject[]> {
  const clock = new SimulatedClock()
  await using cluster = await startEmbeddedCluster({
    listen: false,
    authorization: 'AlwaysAllow',
    controllers: false,
    clock,
    random: seededRandom(0),
  })
  const client = createClient({ transport: cluster.transport, clock, userAgent: 'user', fieldManager: 'user' })
  const found: JsonObject[] = []
  for (const crd of crds) {
    // The manifest is what the server accepts; the built-in type spells its schema out.
    const { metadata } = await client.create(CustomResourceDefinitions, manifestOf(crd))
    for (let turn = 0; !isEstablished(cluster.api.get(RESOURCE, undefined, metadata.name)); turn++) {
      if (turn === MAX_TURNS) throw new Error(`the definition ${metadata.name} is not established`)
      await setImmediate()
    }
    found.push(...[cluster.api.get(RESOURCE, undefined, metadata.name)].filter((object) => object !== undefined))
  }
  return found
}

function isEstablished(definition: JsonObject | undefined): boolean {
  const { conditions = [] } = (definition?.status ?? {}) as {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[]
  }
  return conditions.some(({ type, status }) => type === 'Established' && status === 'True')
}
