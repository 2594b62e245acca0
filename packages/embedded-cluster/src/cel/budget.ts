/** A limit on the work an expression may do. */
import { CelBudgetError } from './cel-error.ts'

/** Steps a single rule may take; as many as the API server allows a rule in its own units. */
export const maxStepsPerRule = 1_000_000

/** Steps all rules of one object may take together. */
export const maxStepsPerObject = 10_000_000

/** Counts steps down. One step is about one operation or one item looked at. */
export class Budget {
  #left: number

  constructor(steps: number) {
    this.#left = steps
  }

  /** Steps not spent yet. */
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
