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

async function request(path: string, init: RequestInit = {}): Promise<unknown> {
  let response: Response
  try {
    response = await fetch(path, { ...init, credentials: 'same-origin' })
  } catch {
    throw new ApiError(0, 'the operator does not respond')
  }
  const value: unknown = await response.json().catch(() => undefined)
  if (response.ok) return value
  const { error = response.statusText } = (value ?? {}) as { readonly error?: string }
  throw new ApiError(response.status, error)
}

/** Reads from the API. */
export async function get<T>(path: string, query: Readonly<Record<string, string>> = {}): Promise<T> {
  const search = new URLSearchParams(query).toString()
  return (await request(`/api/${path}${search === '' ? '' : `?${search}`}`)) as T // as the server declares it
}

/** Sends JSON. */
export async function post<T>(path: string, body: unknown): Promise<T> {
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  return (await request(`/api/${path}`, init)) as T // as the server declares it
}

/** Begins a session: the token moves into a cookie that scripts cannot read. */
export function signIn(token: string): Promise<unknown> {
  return post('session', { token })
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
