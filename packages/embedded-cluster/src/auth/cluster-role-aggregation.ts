/** Keeps the rules of aggregating cluster roles equal to those of the roles they select. */

import type { ClusterApi, ClusterController } from '../api/cluster-api.ts'
import { matchLabelSelector } from '../api/label-selector.ts'
import type { Clock, Timer } from '../clock.ts'
import { arrayAt, isJsonObject, type JsonObject, jsonEqual, objectAt, stringAt } from '../json.ts'
import { RBAC_RESOURCES } from './rbac.ts'

const RETRY_MS = 1000

/** The rules of the roles that `role` selects, in order of their names, each rule once. */
export function aggregatedRules(role: JsonObject, others: readonly JsonObject[]): JsonObject[] {
  const name = nameOf(role)
  const rules: JsonObject[] = []
  for (const selector of arrayAt(objectAt(role, 'aggregationRule'), 'clusterRoleSelectors').filter(isJsonObject)) {
    const selects = matchLabelSelector(selector)
    const selected = others
      .filter((other) => nameOf(other) !== name && selects(objectAt(objectAt(other, 'metadata'), 'labels')))
      .sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
    for (const other of selected) {
      for (const rule of arrayAt(other, 'rules').filter(isJsonObject)) {
        if (!rules.some((known) => jsonEqual(known, rule))) rules.push(rule)
      }
    }
  }
  return rules
}

/** The controller that writes aggregated rules whenever a cluster role changes. */
export class ClusterRoleAggregation implements ClusterController {
  readonly name = 'cluster-role-aggregation'
  readonly #api: ClusterApi
  readonly #clock: Clock
  #unsubscribe: (() => void) | undefined
  #working: Promise<void> | undefined
  #isDirty = false
  #retry: Timer | undefined

  constructor(options: { readonly api: ClusterApi; readonly clock: Clock }) {
    this.#api = options.api
    this.#clock = options.clock
  }

  start(): void {
    if (this.#unsubscribe !== undefined) return
    this.#unsubscribe = this.#api.subscribe(({ resource }) => {
      if (resource === RBAC_RESOURCES.clusterRole) this.#trigger()
    })
    this.#trigger()
  }

  async stop(): Promise<void> {
    this.#unsubscribe?.()
    this.#unsubscribe = undefined
    this.#retry?.cancel()
    this.#isDirty = false
    await this.#working
  }

  /** Resolves when there is currently nothing to write. */
  async idle(): Promise<void> {
    while (this.#working !== undefined) await this.#working
  }

  #trigger(): void {
    if (this.#unsubscribe === undefined) return
    this.#isDirty = true
    this.#working ??= this.#work()
  }

  async #work(): Promise<void> {
    await Promise.resolve()
    try {
      while (this.#isDirty) {
        this.#isDirty = false
        await this.#reconcile()
      }
    } catch {
      // Conflicts and rejected writes are retried with the next change; until then the rules stay unchanged.
      this.#retry?.cancel()
      this.#retry = this.#clock.schedule(RETRY_MS, () => this.#trigger())
    }
    this.#working = undefined
  }

  async #reconcile(): Promise<void> {
    const roles = this.#api.list(RBAC_RESOURCES.clusterRole)
    for (const role of roles) {
      if (!isJsonObject(role.aggregationRule)) continue
      const rules = aggregatedRules(role, roles)
      if (jsonEqual(rules, [...arrayAt(role, 'rules')])) continue
      await this.#api.update(RBAC_RESOURCES.clusterRole, { ...role, rules })
    }
  }
}

function nameOf(role: JsonObject): string {
  return stringAt(objectAt(role, 'metadata'), 'name') ?? ''
}
