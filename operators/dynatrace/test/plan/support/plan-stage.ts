/** A cluster in which the operator runs, and plans that are watched while they are made. */
import type { TransportRequest } from '@reeve/http'
import { createClient, type KubeObject, Namespaces, type Service } from '@reeve/kube'
import { essence, KNOWN_AFTER_APPLY } from '@reeve/plan'
import { expect } from 'vitest'
import type { DynaKubeSpec } from '../../../src/api/latest.ts'
import { readClusterState } from '../../../src/plan/cluster-state.ts'
import { conceal } from '../../../src/plan/conceal.ts'
import { PLANNED_KINDS } from '../../../src/plan/manifest-objects.ts'
import { makePlan, type Plan } from '../../../src/plan/plan.ts'
import { exitsInto, NAMESPACE, type Stage, setStage, tokensOf } from '../../dynakube/support/stage.ts'

/** What plans of the stage are made with. */
export interface PlanOptions {
  /** @default true */
  readonly withDryRun?: boolean
}

/** Objects by kind, namespace and name. */
export type Everything = ReadonlyMap<string, KubeObject>

const SIGNAL_MS = 300_000

/** Kept by other controllers at their own times. */
const OTHERS = ['dynatrace-node-cache', 'kube-root-ca.crt']

/** The operator as the stage runs it. */
const OPERATOR = { version: '1.8.1', image: 'registry.example.com/dynatrace-operator:1.8.1', hasCsiDriver: true }

/** Names an object. */
export const idOf = ({ kind, namespace = '', name }: { kind: string; namespace?: string; name?: string }): string =>
  `${kind}/${namespace}/${name}`

/** What makes a plan incomplete. */
export const errorsOf = ({ findings }: Plan) => findings.filter(({ severity }) => severity === 'error')

/** An object as a plan would show it; undefined for a missing one. */
export const shown = (object: KubeObject = { apiVersion: '', kind: 'gone', metadata: {} }) =>
  Object.fromEntries(Object.entries(essence(object)).map(([name, value]) => [name, conceal(object.kind, name, value)]))

/** The stage of the controller, and what tests of plans need besides. */
export class PlanStage implements AsyncDisposable {
  readonly stage: Stage

  private constructor(stage: Stage) {
    this.stage = stage
  }

  /** With a namespace `shop` to inject into. */
  static async set(tenants: readonly string[]): Promise<PlanStage> {
    const stage = await setStage(tenants)
    await stage.client.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } })
    return new PlanStage(stage)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stage[Symbol.asyncDispose]()
  }

  /** The DynaKube that `stage.create` would create. */
  dynakube(name: string, spec: Partial<DynaKubeSpec>, annotations: Readonly<Record<string, string>> = {}): KubeObject {
    const { simulator } = this.stage
    return {
      apiVersion: 'dynatrace.com/v1beta6',
      kind: 'DynaKube',
      metadata: { namespace: NAMESPACE, name, annotations },
      spec: { apiUrl: simulator.url(name), tokens: tokensOf(name), trustedCAs: 'tenant', ...spec },
    } as KubeObject // the spec is its own
  }

  /** Plans, and makes sure that nothing but questions and dry runs was sent. */
  async plan(files: readonly KubeObject[], { withDryRun = true }: PlanOptions = {}): Promise<Plan> {
    const { cluster, simulator } = this.stage
    const sent: TransportRequest[] = []
    const send = (request: TransportRequest) => {
      sent.push(request)
      return cluster.transport.send(request)
    }
    const client = createClient({ transport: { ...cluster.transport, send } })
    const signal = AbortSignal.timeout(SIGNAL_MS)
    simulator.clearCalls()
    const { objects, ...facts } = await readClusterState(client, [NAMESPACE], { signal })
    const plan = await makePlan({
      ...facts,
      files,
      state: objects,
      operator: OPERATOR,
      detectsHostAvailability: true,
      exits: exitsInto(simulator),
      ...(withDryRun && { cluster: client }),
      signal,
    })
    const writes = sent.filter(({ method }) => method !== 'GET')
    expect(withDryRun ? writes.filter((request) => !isDryRun(request)) : writes).toEqual([])
    const calls = simulator.calls().filter(({ method }) => method !== 'GET')
    expect(calls.filter(({ operation }) => !['token-lookup', 'oauth-token'].includes(operation))).toEqual([])
    return plan
  }

  /** Creates a DynaKube as `kubectl apply` does, and waits for the operator. */
  async apply(name: string, spec: Partial<DynaKubeSpec>, annotations: Readonly<Record<string, string>> = {}) {
    const { stage } = this
    const file = JSON.stringify(this.dynakube(name, spec, annotations))
    await stage.create(name, spec, { ...annotations, 'kubectl.kubernetes.io/last-applied-configuration': file })
    await stage.until(async () => ['Deploying', 'Running'].includes((await stage.read(name)).status?.phase ?? ''))
    await this.settled(name)
  }

  /** Waits until the operator has reconciled a DynaKube and found nothing to do. */
  async settled(name: string): Promise<void> {
    const { stage } = this
    const before = stage.records.length
    await stage.reconcile(name)
    await stage.until(() => {
      const last = stage.records.slice(before).findLast(({ key }) => key.name === name)
      return last !== undefined && last.writes.length === 0 && last.error === undefined
    })
  }

  /** Everything in the cluster that a plan may speak of. */
  async everything(): Promise<Everything> {
    const kinds = PLANNED_KINDS.filter(({ group }) => group !== 'networking.istio.io')
    const lists = await Promise.all(
      kinds.map(async (resource) => {
        const { items } = await this.stage.client.listAll(resource)
        return items.map((item) => ({ ...item, kind: resource.kind }))
      }),
    )
    const counted = lists.flat().filter(({ metadata }) => !OTHERS.includes(metadata.name ?? ''))
    return new Map(counted.map((object) => [idOf({ kind: object.kind, ...object.metadata }), object]))
  }

  /** Shows objects of the cluster with what no plan can know blotted out. */
  async blotted(objects: Everything, name: string): Promise<(object: KubeObject | undefined) => unknown> {
    const { kubernetesClusterMEID: entity = '' } = (await this.stage.read(name)).status ?? {}
    const services = [...objects.values()].filter(({ kind }) => kind === 'Service') as readonly Service[] // by kind
    const addresses = services.flatMap(({ spec }) => spec?.clusterIPs ?? []).filter((address) => address !== 'None')
    const unknown = [...addresses, ...(entity === '' ? [] : [entity])]
    return (object) => {
      const text = unknown.reduce((all, one) => all.replaceAll(one, KNOWN_AFTER_APPLY), JSON.stringify(shown(object)))
      return JSON.parse(text)
    }
  }
}

const isDryRun = ({ path }: TransportRequest): boolean =>
  new URL(path, 'https://cluster').searchParams.getAll('dryRun').includes('All')
