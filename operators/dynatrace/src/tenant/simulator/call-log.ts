/** The calls that were received last, without their secrets. */
import { isRecord } from '@reeve/http'
import { STATE_LIMITS } from './defaults.ts'
import type { Call } from './http/call.ts'

/** A call as the page and tests see it. Tokens and passwords are neither in the path nor in the body. */
export interface ReceivedCall {
  /** Counts from 1. */
  readonly number: number
  readonly receivedMs: number
  readonly durationMs: number
  readonly method: string
  /** With the query. */
  readonly path: string
  readonly operation: string
  readonly tenant: string | undefined
  /** Name of the token it came with. */
  readonly token: string | undefined
  /** 0 if the connection was closed before the response. */
  readonly status: number
  /** Of the response body. */
  readonly sentBytes: number
  /** Without `authorization`. */
  readonly headers: Readonly<Record<string, string>>
  /** What was sent along, with the values of secret fields masked; undefined when nothing was read. */
  readonly body: unknown
  /** The kinds of faults that were applied. */
  readonly faults: readonly string[]
}

/** How a call went, as far as that is known. */
export interface CallOutcome {
  readonly receivedMs: number
  readonly durationMs: number
  readonly status: number
  readonly sentBytes: number
}

/** A ring: the oldest call makes room for the newest. */
export class CallLog {
  readonly #calls: ReceivedCall[] = []
  readonly #limit: number
  #count = 0

  constructor(limit: number = STATE_LIMITS.calls) {
    this.#limit = limit
  }

  /** How many calls there were, including the forgotten ones. */
  get count(): number {
    return this.#count
  }

  /** The oldest first. */
  list(): readonly ReceivedCall[] {
    return [...this.#calls]
  }

  clear(): void {
    this.#calls.length = 0
  }

  /** Records a call before its response is sent; the returned function completes the entry afterwards. */
  add(call: Call, outcome: CallOutcome): (outcome: CallOutcome) => void {
    const number = ++this.#count
    const { method, operation, tenant, tokenName: token } = call
    const { authorization: _secret, cookie: _cookie, ...headers } = call.headers
    this.#calls.push({
      number,
      ...outcome,
      method,
      operation,
      tenant: tenant?.id,
      token,
      path: pathWithQuery(call),
      headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
      body: recordedBody(call),
      faults: [...call.faults],
    })
    if (this.#calls.length > this.#limit) this.#calls.shift()
    return (final) => {
      const index = this.#calls.findLastIndex((each) => each.number === number)
      const entry = this.#calls[index]
      if (entry !== undefined) this.#calls[index] = { ...entry, ...final }
    }
  }
}

const SECRET = /token|secret|password|assertion/i
const MASK = '••••••'

function pathWithQuery({ path, query, search }: Call): string {
  const secrets = [...new Set(query.keys())].filter((name) => SECRET.test(name))
  // Unchanged, because the encoding of a client matters too.
  if (secrets.length === 0) return `${path}${search}`
  const masked = new URLSearchParams(query)
  for (const name of secrets) masked.set(name, MASK)
  return `${path}?${masked}`
}

function recordedBody({ bodyText, headers }: Call): unknown {
  if (bodyText === undefined || bodyText === '') return undefined
  if (bodyText.length > STATE_LIMITS.callBodyBytes) return `(${bodyText.length} characters)`
  if (headers['content-type']?.startsWith('application/x-www-form-urlencoded')) {
    return masked(Object.fromEntries(new URLSearchParams(bodyText)))
  }
  try {
    return masked(JSON.parse(bodyText))
  } catch {
    // Neither a form nor JSON: it may hold anything, so only its size is kept.
    return `(${bodyText.length} characters)`
  }
}

function masked(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(masked)
  if (!isRecord(value)) return value
  const isSecret = (name: string, content: unknown) => SECRET.test(name) && typeof content === 'string'
  return Object.fromEntries(
    Object.entries(value).map(([name, content]) => [name, isSecret(name, content) ? MASK : masked(content)]),
  )
}
