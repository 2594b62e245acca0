/** The named checks of `/healthz` and `/readyz`. */
import { type Clock, redactText, systemClock, withDeadline } from '@reeve/http'
import { HEALTH_DEFAULTS } from '../defaults.ts'
import { RuntimeError } from '../runtime-error.ts'

/** Passes by returning, fails by throwing; the message is public, so it must not contain secrets. */
export type HealthCheck = (signal: AbortSignal) => void | Promise<void>

/** The result of one check. */
export interface CheckResult {
  readonly name: string
  /** Absent when the check passed. */
  readonly failure?: string
  /** False for a check that only informs: the others decide. */
  readonly isRequired: boolean
}

/** Options of a check. */
export interface HealthCheckOptions {
  /** Whether its failure fails the whole; otherwise it is only shown. Called with every run. @default it does */
  readonly isRequired?: () => boolean
}

/** Options of {@link HealthChecks}. */
export interface HealthChecksOptions {
  /** A check that takes longer counts as failed. @default 900 */
  readonly timeoutMs?: number
  readonly clock?: Clock
}

/** Fits in a path segment and in a line of text. */
const CHECK_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*$/

/** Longest part of a failure that is shown. */
const MAX_FAILURE_LENGTH = 500

/**
 * A set of checks by name.
 *
 * @example
 * const readiness = new HealthChecks()
 * readiness.add('cache', () => {
 *   if (!cache.isSynced) throw new Error('the cache is not synced yet')
 * })
 */
export class HealthChecks {
  readonly #checks = new Map<string, { readonly check: HealthCheck; readonly isRequired: () => boolean }>()
  readonly #timeoutMs: number
  readonly #clock: Clock

  constructor(options: HealthChecksOptions = {}) {
    this.#timeoutMs = options.timeoutMs ?? HEALTH_DEFAULTS.checkTimeoutMs
    this.#clock = options.clock ?? systemClock
  }

  /** Adds a check. Throws when the name is taken or not valid in a path. Returns the function that removes it. */
  add(name: string, check: HealthCheck, { isRequired = () => true }: HealthCheckOptions = {}): () => void {
    if (!CHECK_NAME.test(name)) {
      throw new RuntimeError(
        'HEALTH_CHECK_NAME',
        `"${name}" is not a valid name of a check: use letters, digits, ".", "_", "-"`,
      )
    }
    if (this.#checks.has(name)) {
      throw new RuntimeError('HEALTH_CHECK_NAME', `a check already has the name "${name}": choose another name`)
    }
    const added = { check, isRequired }
    this.#checks.set(name, added)
    return () => {
      if (this.#checks.get(name) === added) this.#checks.delete(name)
    }
  }

  /** Whether there is a check of this name. */
  has(name: string): boolean {
    return this.#checks.has(name)
  }

  /** Runs all checks, or one, at the same time; in the order of their addition. */
  async run(only?: string): Promise<readonly CheckResult[]> {
    const chosen = [...this.#checks].filter(([name]) => only === undefined || name === only)
    return Promise.all(
      chosen.map(async ([name, { check, isRequired }]) => ({
        name,
        isRequired: isRequired(),
        ...(await this.#runOne(check)),
      })),
    )
  }

  async #runOne(check: HealthCheck): Promise<Pick<CheckResult, 'failure'>> {
    const timeoutMs = this.#timeoutMs
    const onTimeout = () => new Error(`no response within ${timeoutMs} ms`)
    try {
      await withDeadline({ clock: this.#clock, timeoutMs, onTimeout }, async (signal) => check(signal))
      return {}
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      return { failure: redactText(message).slice(0, MAX_FAILURE_LENGTH) }
    }
  }
}
