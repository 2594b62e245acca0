/** One candidate's view of the Lease: acquires it when it is free, renews it, releases it. */
import { type Clock, withDeadline } from '@reeve/http'
import {
  apiVersionOf,
  isAlreadyExists,
  isConflict,
  isNotFound,
  type KubeClient,
  type Lease,
  Leases,
  type ObjectKey,
  type Stored,
} from '@reeve/kube'
import { RuntimeError } from '../runtime-error.ts'
import { hasMoved, heldSpec, type LeaseSpec, releasedSpec } from './lease.ts'
import type { Instant, TimeSource } from './time-source.ts'

/** What a candidate needs to compete. */
export interface LeaseLockOptions {
  readonly lease: ObjectKey & { readonly namespace: string }
  /** Different for every process, also for one that restarts. */
  readonly identity: string
  readonly leaseDurationMs: number
  /** For each single request: one that hangs must leave time for another before the leader's deadline. */
  readonly requestTimeoutMs: number
  /** Written with the lease when it is taken. @default nothing */
  readonly marks?: LeaseMarks
}

/** Labels and annotations of a lease. */
export interface LeaseMarks {
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
}

/** The outcome of one attempt. */
export type LockAttempt =
  /** `since` is from before the write that took or renewed the lease was sent. */
  | { readonly isHeld: true; readonly holder: string; readonly since: Instant }
  /** `holder` if it is known; empty when there is none. */
  | { readonly isHeld: false; readonly holder: string }

/**
 * *Guarantees*: every write carries the resourceVersion it was decided on, so of two candidates one wins; another's
 * lease counts as expired only after this process has seen no renewal for its whole duration, so clocks
 * of different machines are never compared.
 */
export class LeaseLock {
  readonly #client: KubeClient
  readonly #options: LeaseLockOptions
  readonly #clock: Clock
  readonly #time: TimeSource
  /** The lease as we last wrote it, while we hold it: saves the read before each renewal. */
  #mine: Stored<Lease> | undefined
  #observed: LeaseSpec | undefined
  #observedAt: Instant

  constructor(client: KubeClient, options: LeaseLockOptions, clock: Clock, time: TimeSource) {
    this.#client = client
    this.#options = options
    this.#clock = clock
    this.#time = time
    this.#observedAt = time.now()
  }

  /** Tries once to acquire or renew the lease. Losing a race is an outcome, not an error. */
  async tryHold(signal: AbortSignal): Promise<LockAttempt> {
    if (this.#mine !== undefined) {
      const since = this.#time.now()
      const renewed = await this.#write(this.#mine, this.#nextSpec(this.#mine.spec), signal)
      if (renewed) return this.#held(since)
    }
    const current = await this.#read(signal)
    if (current === undefined) return this.#tryCreate(signal)
    this.#observe(current.spec)
    const holder = current.spec?.holderIdentity ?? ''
    if (holder !== '' && holder !== this.#options.identity && !this.#hasRunOut()) return { isHeld: false, holder }
    const since = this.#time.now()
    const written = await this.#write(current, this.#nextSpec(current.spec), signal)
    return written ? this.#held(since) : { isHeld: false, holder }
  }

  /** Takes note of the lease as a list shows it: from then on its duration counts. */
  observe(lease: Lease): void {
    this.#observe(lease.spec)
  }

  /** Whether an attempt may succeed, from what was observed: the lease has no holder, or it has run out. */
  get isFree(): boolean {
    const holder = this.#observed?.holderIdentity ?? ''
    return holder === '' || holder === this.#options.identity || this.#hasRunOut()
  }

  /** Releases the lease if this process holds it. Returns whether it is released. */
  async release(signal: AbortSignal): Promise<boolean> {
    const current = this.#mine ?? (await this.#read(signal))
    if (current?.spec?.holderIdentity !== this.#options.identity) return true
    if (await this.#write(current, releasedSpec(current.spec, this.#time.now().wallMs), signal)) {
      this.#mine = undefined
      return true
    }
    // A renewal whose response was lost changed the lease: read it again.
    const moved = await this.#read(signal)
    if (moved?.spec?.holderIdentity !== this.#options.identity) return true
    return this.#write(moved, releasedSpec(moved.spec, this.#time.now().wallMs), signal)
  }

  async #tryCreate(signal: AbortSignal): Promise<LockAttempt> {
    const holder = this.#observed?.holderIdentity ?? ''
    // The lease was deleted. Its holder does not know yet: wait for it to expire as if it still existed.
    if (holder !== '' && holder !== this.#options.identity && !this.#hasRunOut()) return { isHeld: false, holder }
    const since = this.#time.now()
    const lease: Lease = {
      apiVersion: apiVersionOf(Leases),
      kind: Leases.kind,
      metadata: { name: this.#options.lease.name, namespace: this.#options.lease.namespace, ...this.#options.marks },
      spec: this.#nextSpec(this.#observed),
    }
    try {
      this.#mine = await this.#bounded(signal, (bounded) => this.#client.create(Leases, lease, { signal: bounded }))
      return this.#held(since)
    } catch (error) {
      if (isAlreadyExists(error)) return { isHeld: false, holder: '' }
      throw error
    }
  }

  async #read(signal: AbortSignal): Promise<Stored<Lease> | undefined> {
    try {
      return await this.#bounded(signal, (bounded) =>
        this.#client.get(Leases, this.#options.lease, { signal: bounded }),
      )
    } catch (error) {
      if (isNotFound(error)) return undefined
      throw error
    }
  }

  /** False when the lease was changed or deleted first. */
  async #write(current: Stored<Lease>, spec: LeaseSpec, signal: AbortSignal): Promise<boolean> {
    this.#mine = undefined
    const { marks } = this.#options
    const { labels, annotations } = current.metadata
    const marked = marks && {
      labels: { ...labels, ...marks.labels },
      annotations: { ...annotations, ...marks.annotations },
    }
    const lease: Lease = { ...current, metadata: { ...current.metadata, ...marked }, spec }
    try {
      this.#mine = await this.#bounded(signal, (bounded) => this.#client.update(Leases, lease, { signal: bounded }))
      return true
    } catch (error) {
      if (isConflict(error) || isNotFound(error)) return false
      throw error
    }
  }

  #held(since: Instant): LockAttempt {
    this.#observe(this.#mine?.spec)
    return { isHeld: true, holder: this.#options.identity, since }
  }

  #bounded<T>(signal: AbortSignal, send: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { requestTimeoutMs: timeoutMs } = this.#options
    const onTimeout = () => new RuntimeError('LEASE_TIMEOUT', `no response about the lease within ${timeoutMs} ms`)
    return withDeadline({ clock: this.#clock, signal, timeoutMs, onTimeout }, send)
  }

  #nextSpec(previous: LeaseSpec | undefined): LeaseSpec {
    const { identity, leaseDurationMs } = this.#options
    return heldSpec(previous, identity, leaseDurationMs, this.#time.now().wallMs)
  }

  #observe(seen: LeaseSpec | undefined): void {
    if (!hasMoved(this.#observed, seen)) return
    this.#observed = seen
    this.#observedAt = this.#time.now()
  }

  #hasRunOut(): boolean {
    const theirsMs = (this.#observed?.leaseDurationSeconds ?? 0) * 1_000
    const durationMs = Math.max(theirsMs, this.#options.leaseDurationMs)
    return this.#time.atLeastSince(this.#observedAt) >= durationMs
  }
}
