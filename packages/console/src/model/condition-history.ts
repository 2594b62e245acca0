/** How the conditions of resources changed in time. */
import { redactText } from '@reeve/http'
import { CONSOLE_LIMITS } from '../limits.ts'
import type { Condition, ConditionChange } from '../wire.ts'

interface Observed {
  readonly states: Map<string, string>
  readonly changes: ConditionChange[]
}

/** Remembers changes of a bounded number of resources; those that changed longest ago are forgotten first. */
export class ConditionHistory {
  readonly #byResource = new Map<string, Observed>()

  /** Takes note of the conditions of a resource at a time. */
  observe(id: string, conditions: readonly Condition[], atMs: number): void {
    const known = this.#byResource.get(id)
    const { states, changes } = known ?? { states: new Map<string, string>(), changes: [] }
    let hasChanged = known === undefined
    for (const condition of conditions) {
      const { type, status, reason, message, lastTransitionTime } = condition
      const state = `${status} ${reason ?? ''}`
      if (states.get(type) === state) continue
      states.set(type, state)
      hasChanged = true
      // What was set before this process began is known by its own time only.
      const sinceMs = known === undefined ? Date.parse(lastTransitionTime ?? '') || atMs : atMs
      changes.push({
        atMs: sinceMs,
        type,
        status,
        ...(reason !== undefined && { reason }),
        ...(message !== undefined && { message: redactText(message) }),
      })
    }
    if (!hasChanged) return
    changes.splice(0, Math.max(0, changes.length - CONSOLE_LIMITS.conditionChanges))
    this.#byResource.delete(id)
    this.#byResource.set(id, { states, changes })
    if (this.#byResource.size > CONSOLE_LIMITS.resources) this.delete(this.#byResource.keys().next().value ?? '')
  }

  /** Oldest first. */
  of(id: string): readonly ConditionChange[] {
    return (this.#byResource.get(id)?.changes ?? []).toSorted((one, other) => one.atMs - other.atMs)
  }

  delete(id: string): void {
    this.#byResource.delete(id)
  }
}
