/** Writes and reads the Collectors of a suite, for tenants that no other suite has. */
import { randomBytes } from 'node:crypto'
import { type ReleaseKey, type ReleaseStatus, readReleases } from '@reeve/helm'
import { Events, isNotFound } from '@reeve/kube'
import { getCondition } from '@reeve/runtime'
import { type Collector, Collectors } from '../../src/index.ts'
import { type CollectorParts, collectorOf, configuration } from '../../src/testing/collector.ts'
import type { Stage } from './stage.ts'

/** Every Collector has a tenant of the same name by default. */
export class Tenants {
  readonly #stage: Stage
  // Other suites may use the same cluster.
  readonly #run = randomBytes(3).toString('hex')
  readonly #chart: string

  constructor(stage: Stage, chart = 'log-collector') {
    this.#stage = stage
    this.#chart = chart
  }

  reference(name: string): string {
    return `Tenant-${name}-${this.#run}`
  }

  releaseOf(name: string, instance = 'eu1'): ReleaseKey {
    return { namespace: this.reference(name).toLowerCase(), name: `${this.#chart}-${instance}` }
  }

  key(name: string) {
    return { namespace: this.#stage.namespace, name }
  }

  /** Writes a Collector whose values are `yaml`. */
  async create(name: string, yaml: string, parts: CollectorParts = {}): Promise<void> {
    const { metadata: _builders, ...collector } = collectorOf({
      ...parts,
      collector: { name: this.#chart, configuration: configuration(yaml), ...parts.collector },
      tenant: { reference: this.reference(name), ...parts.tenant },
    })
    const { namespace } = this.#stage
    await this.#stage.client.create(Collectors, { ...collector, metadata: { name, namespace, ...parts.metadata } })
    this.#stage.cluster.removeAtClose(`/api/v1/namespaces/${collector.spec.tenant.reference.toLowerCase()}`)
  }

  get(name: string): Promise<Collector> {
    return this.#stage.client.get(Collectors, this.key(name))
  }

  async configure(name: string, yaml: string): Promise<void> {
    await this.patch(name, { collector: { configuration: configuration(yaml) } })
  }

  async patch(name: string, spec: object): Promise<void> {
    await this.#stage.client.patch(Collectors, this.key(name), { type: 'merge', patch: { spec } })
  }

  async remove(name: string): Promise<void> {
    await this.#stage.client.delete(Collectors, this.key(name))
  }

  isGone(name: string): Promise<boolean> {
    return this.get(name).then(() => false, isNotFound)
  }

  /** The states of all revisions, oldest first. */
  async statuses(name: string, instance?: string): Promise<readonly ReleaseStatus[]> {
    const history = await readReleases(this.#stage.client, this.releaseOf(name, instance))
    return history.map(({ status }) => status)
  }

  /** Waits until a condition has a reason, and returns its message. */
  async untilReason(name: string, type: string, reason: string): Promise<string> {
    let found: ReturnType<typeof condition>
    await this.#stage
      .until(async () => {
        const collector = await this.get(name)
        found = condition(collector, type)
        return found?.reason === reason && found.observedGeneration === collector.metadata.generation
      })
      .catch((error: unknown) => {
        throw new Error(`${type} of ${name} is ${JSON.stringify(found)} instead of ${reason}`, { cause: error })
      })
    return found?.message ?? ''
  }

  /** The events about a Collector, with how often each was counted. */
  async events(name: string) {
    const { items } = await this.#stage.client.listAll(Events, { namespace: this.#stage.namespace })
    return items
      .filter(({ involvedObject }) => involvedObject.name === name)
      .map(({ type = '', reason = '', message: note = '', count = 1 }) => ({ type, reason, note, count }))
  }
}

/** A condition of a Collector. */
export function condition({ status }: Collector, type: string) {
  // The type of the schema leaves the message open; the operator always writes one.
  return getCondition(status?.conditions as Parameters<typeof getCondition>[0], type)
}
