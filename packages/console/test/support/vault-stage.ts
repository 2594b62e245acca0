/** A small cluster with an operator that handles secrets, and its console. */
import { crdManifest, defineCrd } from '@reeve/crd'
import { startEmbeddedCluster } from '@reeve/embedded-cluster'
import {
  ConfigMaps,
  CustomResourceDefinitions,
  createClient,
  type KubeClient,
  type KubeObject,
  type Resource,
  Secrets,
  sleep,
} from '@reeve/kube'
import {
  defineOperator,
  desired,
  type ReconcileReport,
  type ReconcileSummary,
  setCondition,
  TerminalError,
} from '@reeve/runtime'
import { Type } from 'typebox'
import { ConsoleModel } from '../../src/index.ts'
import type { Reconcile } from '../../src/wire.ts'

const condition = Type.Object({
  type: Type.String(),
  status: Type.Union([Type.Literal('True'), Type.Literal('False'), Type.Literal('Unknown')]),
  reason: Type.String(),
  message: Type.String(),
  lastTransitionTime: Type.String(),
})

const VaultCrd = defineCrd({
  group: 'example.com',
  kind: 'Vault',
  plural: 'vaults',
  scope: 'Namespaced',
  versions: {
    v1: {
      spec: Type.Object({
        text: Type.String(),
        token: Type.Optional(Type.String()),
        fails: Type.Optional(Type.Boolean()),
      }),
      status: Type.Object({
        phase: Type.Optional(Type.String()),
        conditions: Type.Optional(Type.Array(condition)),
      }),
    },
  },
})

/** The kind that the operator reconciles. */
export const Vaults = VaultCrd.resource('v1')

/** Values that must never reach a browser, in any form. */
export const PLANTED = {
  generated: 'generated-6f1d2c9b-secret',
  user: 'user-a81c77f0-secret',
  bearer: 'bearer-55aa19e3-secret',
  vendor: 'dt0c01.PLANTED.3f9c1b',
  token: 'spec-0c4e8d21-secret',
}

const LABELS = { app: 'vault' }

type Vault = typeof Vaults extends Resource<infer T> ? T : never

function report({ primary, failure, clock }: ReconcileSummary<Vault>): ReconcileReport<Vault> {
  const status = failure === undefined ? 'True' : 'False'
  const ready = { type: 'Ready', status, reason: 'Reported', message: failure?.message ?? 'all is well' } as const
  const conditions = [...setCondition(primary.status?.conditions, ready, clock)]
  return { status: { phase: failure === undefined ? 'Ready' : 'Failed', conditions } }
}

/** An operator that renders a Secret and a ConfigMap, and can fail with a message that contains a credential. */
const vaultOperator = defineOperator({
  name: 'vault-operator',
  crds: [crdManifest(VaultCrd)],
  controllers: [
    {
      for: Vaults,
      owns: [
        { resource: Secrets, labelSelector: 'app=vault' },
        { resource: ConfigMaps, labelSelector: 'app=vault' },
      ],
      render: ({ metadata: { namespace = '', name }, spec }) => {
        if (spec.fails) {
          throw new TerminalError(`could not log in with Authorization: Bearer ${PLANTED.bearer} and ${PLANTED.vendor}`)
        }
        const metadata = { namespace, name, labels: LABELS }
        return [
          desired(Secrets, { metadata, data: { password: btoa(`${PLANTED.generated}-${spec.text}`) } }),
          desired(ConfigMaps, { metadata, data: { text: spec.text } }),
        ]
      },
      report,
    },
  ],
})

/** The stage of a test. */
export interface VaultStage extends AsyncDisposable {
  readonly client: KubeClient
  readonly model: ConsoleModel
  create(name: string, spec?: object): Promise<void>
  /** Waits until the journal has a reconcile that matches. */
  until(matches: (reconcile: Reconcile) => boolean): Promise<Reconcile>
}

/** Sets the stage; the operator runs. */
export async function setVaultStage(): Promise<VaultStage> {
  const cluster = await startEmbeddedCluster({ listen: false, authorization: 'AlwaysAllow', controllers: false })
  const transport = { send: cluster.handle.bind(cluster), close: async () => undefined }
  const client = createClient({ transport, fieldManager: 'test' })
  for (const crd of vaultOperator.crds()) await client.create(CustomResourceDefinitions, crd)
  const model = new ConsoleModel({ secretPatterns: [/\bdt0[a-z]\d{2}\.\w+\.\w+/g] })
  const { manager } = vaultOperator.create({
    client: createClient({ transport, fieldManager: 'vault-operator', onRequest: model.requests.count }),
    observer: model.observer(),
  })
  const stop = new AbortController()
  const running = manager.run(stop.signal)
  const signal = AbortSignal.timeout(50_000)
  return {
    client,
    model,
    async create(name, spec = {}) {
      const vault: KubeObject & { spec: object } = {
        apiVersion: 'example.com/v1',
        kind: 'Vault',
        metadata: { namespace: 'default', name },
        spec: { text: 'hello', ...spec },
      }
      await client.create(Vaults, vault as never) // the spec is complete
    },
    async until(matches) {
      for (;;) {
        const found = model.journal.list({ limit: 1_000 }).find(matches)
        if (found !== undefined) return found
        await sleep(20, { signal })
      }
    },
    async [Symbol.asyncDispose]() {
      stop.abort()
      await running
      await cluster.stop()
    },
  }
}
