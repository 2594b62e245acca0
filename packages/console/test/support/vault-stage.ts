/** A small cluster with an operator that handles secrets, and its console. */
import { crdManifest, defineCrd } from '@reeve/crd'
import { startEmbeddedCluster } from '@reeve/embedded-cluster'
import { sleep } from '@reeve/http'
import {
  ConfigMaps,
  CustomResourceDefinitions,
  createClient,
  Deployments,
  type KubeClient,
  type KubeObject,
  type Resource,
  Secrets,
} from '@reeve/kube'
import {
  defineOperator,
  desired,
  type ReconcileReport,
  type ReconcileSummary,
  setCondition,
  TerminalError,
} from '@reeve/runtime'
import type { OperatorView } from '@reeve/runtime/operator'
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
      // A rule that says more than it should.
      rules: [
        {
          rule: "self.spec.text != 'forbidden'",
          messageExpression: "'forbidden together with ' + self.spec.token",
          message: 'forbidden',
        },
      ],
      spec: Type.Object({
        text: Type.String(),
        token: Type.Optional(Type.String()),
        fails: Type.Optional(Type.Boolean()),
        echoes: Type.Optional(Type.Boolean()),
        tokens: Type.Optional(Type.Array(Type.String())),
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
  listed: 'list-b7713fd0-secret',
  applied: 'applied-93be02aa-secret',
  variable: 'env-4d20c8e7-secret',
  address: 'url-7f02ab1c-secret',
  settings: 'yaml-e12c90bd-secret',
  helm: 'helm-2a6be5f4-secret',
  view: 'view-c08d11a9-secret',
  text: 'text-d5510b3e-secret',
}

const LABELS = { app: 'vault' }

type Vault = typeof Vaults extends Resource<infer T> ? T : never

function report({ primary, failure, clock }: ReconcileSummary<Vault>): ReconcileReport<Vault> {
  const status = failure === undefined ? 'True' : 'False'
  const ready = { type: 'Ready', status, reason: 'Reported', message: failure?.message ?? 'all is well' } as const
  const conditions = [...setCondition(primary.status?.conditions, ready, clock)]
  return { status: { phase: failure === undefined ? 'Ready' : 'Failed', conditions } }
}

function deploymentSpec(text: string) {
  const env = [
    { name: 'TEXT', value: text },
    { name: 'API_TOKEN', value: `${PLANTED.variable}-${text}` },
    { name: 'DATABASE_URL', value: `postgres://vault:${PLANTED.address}@db/${text}` },
  ]
  return {
    replicas: 0,
    selector: { matchLabels: LABELS },
    template: { metadata: { labels: LABELS }, spec: { containers: [{ name: 'vault', image: 'vault:1', env }] } },
  }
}

/** Views that say too much, and one that fails with a secret in its message. */
const views: readonly OperatorView[] = [
  {
    id: 'vaults',
    title: 'Vaults',
    read: async ({ client, signal }) => {
      const { items } = await client.list(Secrets, { namespace: 'default', labelSelector: 'app=vault', signal })
      return [
        {
          type: 'table',
          title: 'Secrets',
          empty: 'none',
          columns: ['Name', 'Header'],
          rows: items.map(({ metadata }) => [
            metadata.name,
            { text: `Authorization: Bearer ${PLANTED.bearer}`, detail: `with ${PLANTED.vendor}` },
          ]),
        },
        { type: 'facts', title: 'Access', facts: [['Address', `https://vault:${PLANTED.view}@vault.example.com`]] },
      ]
    },
  },
  {
    id: 'broken',
    title: 'Broken',
    read: async () => {
      throw new Error(`no access with ${PLANTED.view} and ${PLANTED.vendor}`)
    },
  },
]

/** An operator that renders a Secret and a ConfigMap, and can fail with a message that contains a credential. */
const vaultOperator = defineOperator({
  name: 'vault-operator',
  crds: [crdManifest(VaultCrd)],
  views,
  controllers: [
    {
      for: Vaults,
      owns: [
        { resource: Secrets, labelSelector: 'app=vault' },
        { resource: ConfigMaps, labelSelector: 'app=vault' },
        { resource: Deployments, labelSelector: 'app=vault' },
      ],
      render: ({ metadata: { namespace = '', name }, spec }) => {
        if (spec.fails) {
          throw new TerminalError(`could not log in with Authorization: Bearer ${PLANTED.bearer} and ${PLANTED.vendor}`)
        }
        if (spec.echoes) {
          throw new TerminalError(`the token ${spec.token} was rejected; ${btoa(spec.token ?? '')} is its other form`)
        }
        const metadata = { namespace, name, labels: LABELS }
        const files = {
          'settings.yaml': `text: ${spec.text}\npassword: ${PLANTED.settings}\n`,
          'values.json': JSON.stringify({ text: spec.text, grafana: { adminPassword: PLANTED.helm } }),
        }
        return [
          desired(Secrets, {
            metadata,
            data: { password: btoa(`${PLANTED.generated}-${spec.text}`) },
          }),
          desired(ConfigMaps, { metadata, data: { text: spec.text, ...files } }),
          desired(Deployments, { metadata, spec: deploymentSpec(spec.text) }),
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
  create(name: string, spec?: object, annotations?: Readonly<Record<string, string>>): Promise<void>
  /** Waits until the journal has a reconcile that matches. */
  until(matches: (reconcile: Reconcile) => boolean): Promise<Reconcile>
}

/** Sets the stage; the operator runs. */
export async function setVaultStage(): Promise<VaultStage> {
  const cluster = await startEmbeddedCluster({ listen: false, authorization: 'AlwaysAllow', controllers: false })
  const { transport } = cluster
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
    async create(name, spec = {}, annotations = {}) {
      const vault: KubeObject & { spec: object } = {
        apiVersion: 'example.com/v1',
        kind: 'Vault',
        metadata: { namespace: 'default', name, annotations },
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
