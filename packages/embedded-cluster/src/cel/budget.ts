/** A limit on the cost of evaluating an expression. */
import { CelBudgetError } from './cel-error.ts'

/** Steps that a single rule may use; the same number as the API server's cost limit per rule. */
export const maxStepsPerRule = 1_000_000

/** Steps that all rules of one object may use together. */
export const maxStepsPerObject = 10_000_000

/** Counts steps down. One step is about one operation or one visited item. */
export class Budget {
  #left: number

  constructor(steps: number) {
    this.#left = steps
  }

  /** Remaining steps. */
  get left(): number {
    return this.#left
  }

  /**
   * Spends steps.
   *
   * *Errors*: CelBudgetError when there are not enough left.
   */
  spend(steps = 1): void {
    this.#left -= steps
    if (this.#left < 0) throw new CelBudgetError('call cost exceeds limit')
  }
}
