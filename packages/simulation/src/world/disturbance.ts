/** What may happen to a request, a response or an event in transit: the vocabulary of all patterns. */
import type { RequestFacts } from './request-facts.ts'

/** A request as it passes the seam. */
export interface SeamRequest extends RequestFacts {
  /** Counts the requests of all instances of a run from 0; the same request in every run up to the first fault. */
  readonly index: number
  /** 1 for the first instance that was started. */
  readonly instance: number
}

/** A watch event as it passes the seam. */
export interface SeamEvent {
  /** Counts the events that all instances of a run received, from 0. */
  readonly index: number
  readonly instance: number
  readonly resource: string
  /** What the stream chooses that it came by, see `selectionId`. */
  readonly selection: string
  readonly type: string
  readonly resourceVersion: string | undefined
  readonly namespace: string | undefined
  readonly name: string | undefined
}

/** A call of the operator to something outside the cluster. */
export interface SeamCall {
  /** Counts the outside calls of a run, from 0. */
  readonly index: number
  readonly instance: number
  readonly operation: string
}

/** Something that an instance of the operator had set an alarm for. */
export interface SeamTimer {
  /** Counts the timers that fired in all instances of a run, from 0. */
  readonly index: number
  readonly instance: number
}

/** What becomes of a call to the outside world. */
export type CallFate =
  | 'deliver'
  /** It has its effect and the caller never receives the response. */
  | 'lose'
  /** It fails without an effect. */
  | 'fail'
  /** It has its effect and then fails. */
  | 'fail-afterwards'

/** What becomes of a request before the server sees it. */
export type RequestFate =
  | { readonly type: 'pass' }
  /** The server rejects it with a Status and does nothing. */
  | { readonly type: 'reject'; readonly code: number; readonly reason: string; readonly retryAfterSeconds?: number }
  /** The connection breaks before the server has seen anything. */
  | { readonly type: 'reset' }
  /** A list shows the objects as they were at this revision. */
  | { readonly type: 'past'; readonly resourceVersion: string }
  /** It arrives later. */
  | { readonly type: 'delay'; readonly delayMs: number }

/** What becomes of a response after the server has done its work. */
export type ResponseFate =
  | { readonly type: 'deliver' }
  /** The connection breaks before the response arrives. */
  | { readonly type: 'reset' }
  /** The response never arrives; the client's own deadline has to notice, unless the connection breaks after `lastsMs`. */
  | { readonly type: 'lose'; readonly lastsMs?: number }

/** What becomes of a watch event, and of the stream after it. */
export type EventFate =
  | { readonly type: 'deliver' }
  /** This event and all after it on the same stream arrive later, in order. */
  | { readonly type: 'delay'; readonly delayMs: number }
  /** It arrives, then the server responds with 410. */
  | { readonly type: 'expire' }
  /** It and everything within `stallMs` is lost, followed by a 410: a relist shows only the result. */
  | { readonly type: 'stall-and-expire'; readonly stallMs: number }
  /** It is lost and the stream stays open silently, for this long or until the client gives up. */
  | { readonly type: 'silence'; readonly lastsMs?: number }

/** Faults of one run. Every method may act on the world before it returns; absent methods have no effect. */
export interface Disturbance {
  /** After users have prepared the cluster, before the operator is started for the first time. */
  onStart?(): Promise<void>
  onRequest?(request: SeamRequest): RequestFate | Promise<RequestFate>
  onResponse?(request: SeamRequest, status: number): ResponseFate
  onEvent?(event: SeamEvent): EventFate
  /** Before the outside world acts. */
  onCall?(call: SeamCall): CallFate
  /** While it acts. */
  onCalling?(call: SeamCall): void
  /** After it responded. */
  onCalled?(call: SeamCall): void
  /** Before the code that waits for the timer continues. */
  onTimer?(timer: SeamTimer): void
  /** After the user has acted in a step, before its end is waited for. */
  onActed?(step: number): Promise<void>
  /** After a step of the scenario has settled, before the end state is compared. */
  onStepEnd?(step: number): Promise<void>
}

export const PASS: RequestFate = { type: 'pass' }
export const DELIVER: { readonly type: 'deliver' } = { type: 'deliver' }
