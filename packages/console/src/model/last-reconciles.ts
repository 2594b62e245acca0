/** How the last reconcile of each resource ended. */
import type { ReconcileRecord } from '@reeve/runtime/controller'
import { CONSOLE_LIMITS } from '../limits.ts'
import type { ResourceRow } from '../wire.ts'

interface LastReconcile {
  readonly reconcile: NonNullable<ResourceRow['lastReconcile']>
  /** Failures in a row. */
  readonly failures: number
}

/** Remembers a bounded number of resources; those that were reconciled longest ago are forgotten first. */
export class LastReconciles {
  readonly #byResource = new Map<string, LastReconcile>()

  get(id: string): LastReconcile | undefined {
    return this.#byResource.get(id)
  }

  set(id: string, { startedMs, durationMs, outcome, error, attempt }: ReconcileRecord): void {
    this.#byResource.delete(id)
    const reconcile = { endedMs: startedMs + durationMs, outcome, durationMs }
    this.#byResource.set(id, { reconcile, failures: error === undefined || outcome === 'aborted' ? 0 : attempt })
    if (this.#byResource.size > CONSOLE_LIMITS.resources) this.delete(this.#byResource.keys().next().value ?? '')
  }

  delete(id: string): void {
    this.#byResource.delete(id)
  }
}
