/** Requests to the operator. */
import type { StreamMessage } from '../../src/wire.ts'

/** The operator refused a request, or did not respond. */
export class ApiError extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** Sends a request to the server of the page, with a body as JSON. */
export async function request(path: string, method = 'GET', body?: unknown): Promise<unknown> {
  let response: Response
  try {
    const content = { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
    response = await fetch(path, { method, credentials: 'same-origin', ...(body !== undefined && content) })
  } catch {
    throw new ApiError(0, 'the server of this page does not respond: is it still running?')
  }
  const value: unknown = await response.json().catch(() => undefined)
  if (response.ok) return value
  throw new ApiError(response.status, messageOf(value) ?? response.statusText)
}

/** Of an error as the console sends it, or as a tenant does. */
function messageOf(value: unknown): string | undefined {
  const { error } = (value ?? {}) as { readonly error?: string | TenantError }
  if (error === undefined || typeof error === 'string') return error
  const { message, constraintViolations = [] } = error
  return [message, ...constraintViolations.map((one) => `${one.path}: ${one.message}`)].join(' ')
}

interface TenantError {
  readonly message: string
  readonly constraintViolations?: readonly { readonly path: string; readonly message: string }[]
}

/** Reads from the API. */
export async function get<T>(path: string, query: Readonly<Record<string, string>> = {}): Promise<T> {
  const search = new URLSearchParams(query).toString()
  return (await request(`/api/${path}${search === '' ? '' : `?${search}`}`)) as T // as the server declares it
}

/** Sends JSON. */
export async function post<T>(path: string, body: unknown): Promise<T> {
  return (await request(`/api/${path}`, 'POST', body)) as T // as the server declares it
}

/** Begins a session: the token moves into a cookie that scripts cannot read. */
export function signIn(token: string): Promise<unknown> {
  return post('session', { token })
}

/** Ends the session, also on the server. */
export function signOut(): Promise<unknown> {
  return request('/api/session', 'DELETE')
}

/** Opens the stream of live updates; returns the function that closes it. */
export function openStream(on: {
  readonly messages: (messages: readonly StreamMessage[]) => void
  readonly opened: () => void
  readonly lost: () => void
}): () => void {
  const source = new EventSource('/api/stream')
  source.onopen = on.opened
  source.onerror = () => {
    // The browser does not say why, and gives up after a refusal: the caller finds out and opens another one.
    source.close()
    on.lost()
  }
  source.onmessage = ({ data }) => on.messages(JSON.parse(data as string) as StreamMessage[])
  return () => source.close()
}
