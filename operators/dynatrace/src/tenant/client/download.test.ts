import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { scratchFolder } from '@reeve/archives/testing'
import { HttpConnectionError, type OutboundRequest, type OutboundResponse, type Sender } from '@reeve/http'
import { SimulatedClock } from '@reeve/http/testing'
import { describe, expect, it } from 'vitest'
import { codeModules } from './installer-target.ts'
import { createTenantClient, type TenantClientOptions } from './tenant-client.ts'

const CONTENT = Buffer.from('0123456789'.repeat(100))
const ETAG = '"v1"'

interface Part {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array
  /** Whether the connection breaks after the body. */
  readonly isCut?: boolean
}

/** Serves one part per request. */
class Parts implements Sender {
  readonly requests: OutboundRequest[] = []
  readonly #parts: readonly Part[]

  constructor(...parts: readonly Part[]) {
    this.#parts = parts
  }

  async send(request: OutboundRequest): Promise<OutboundResponse> {
    const part = this.#parts[this.requests.length] ?? {}
    this.requests.push(request)
    return { status: part.status ?? 200, headers: part.headers ?? {}, url: request.url, body: content(part) }
  }

  async close(): Promise<void> {
    this.requests.length = 0
  }
}

async function* content({ body = CONTENT, isCut = false }: Part) {
  yield new Uint8Array(body)
  if (isCut) throw new HttpConnectionError('cut', 'response')
}

async function download(sender: Sender, options: Partial<TenantClientOptions> = {}, etag?: string) {
  await using scratch = await scratchFolder()
  const client = createTenantClient({
    apiUrl: 'https://tenant.example.com/api',
    apiToken: 'api-token-value',
    sender,
    env: {},
    retries: { maxRetries: 3, baseDelayMs: 0, maxDelayMs: 0, maxRetryAfterMs: 0 },
    ...options,
  })
  const file = join(scratch.path, 'agent.zip')
  const result = await client.installers.download(
    codeModules('x64'),
    'latest',
    file,
    etag === undefined ? {} : { etag },
  )
  return { result, content: await readFile(file) }
}

const first = { headers: { etag: ETAG, 'content-length': '1000' }, body: CONTENT.subarray(0, 400), isCut: true }

describe('a download', () => {
  it('resumes where it was cut, and is hashed as a whole', async () => {
    const rest = { status: 206, headers: { 'content-range': 'bytes 400-999/1000' }, body: CONTENT.subarray(400) }
    const sender = new Parts(first, rest)
    const { result, content } = await download(sender)
    expect(content.equals(CONTENT)).toBe(true)
    expect(result).toEqual((await download(new Parts({ headers: first.headers }))).result)
    expect(sender.requests[1]?.headers).toMatchObject({ range: 'bytes=400-', 'if-range': ETAG })
  })

  it('starts over when the content has changed meanwhile', async () => {
    const other = Buffer.from('other content')
    const { result, content } = await download(new Parts(first, { headers: { etag: '"v2"' }, body: other }))
    expect(content.equals(other)).toBe(true)
    expect(result).toMatchObject({ sizeBytes: other.byteLength, etag: '"v2"' })
  })

  it.each([undefined, 'W/"weak"'])('starts over when nothing identifies the content (%s)', async (etag) => {
    const sender = new Parts({ ...first, headers: etag === undefined ? {} : { etag } }, {})
    const { content } = await download(sender)
    expect(content.equals(CONTENT)).toBe(true)
    expect(sender.requests[1]?.headers.range).toBeUndefined()
  })

  it('does not take a wrong part for the right one', async () => {
    const wrong = { status: 206, headers: { 'content-range': 'bytes 0-999/1000' }, body: CONTENT }
    const sender = new Parts(first, wrong, {})
    expect((await download(sender)).content.equals(CONTENT)).toBe(true)
    expect(sender.requests[2]?.headers.range).toBeUndefined()
  })

  it('does not take less than announced for the whole', async () => {
    const short = { headers: { 'content-length': '1000' }, body: CONTENT.subarray(0, 999) }
    await expect(download(new Parts(short, short, short, short))).rejects.toThrow(/999 of 1000 bytes arrived/)
  })

  it('is conditional when a copy exists, and only then', async () => {
    const conditional = new Parts({ status: 304, body: new Uint8Array() })
    expect((await download(conditional, {}, ETAG)).result).toEqual({ outcome: 'unchanged' })
    expect(conditional.requests[0]?.headers['if-none-match']).toBe(ETAG)
    const plain = new Parts({})
    await download(plain)
    expect(plain.requests[0]?.headers).not.toHaveProperty('if-none-match')
  })

  it('is aborted after 15 minutes', async () => {
    const clock = new SimulatedClock()
    const waiting = Promise.withResolvers<void>()
    const endless: Sender = {
      send: async ({ url }) => ({ status: 200, headers: {}, url, body: forever(waiting.resolve) }),
      close: async () => undefined,
    }
    const outcome = expect(download(endless, { clock })).rejects.toMatchObject({ code: 'HTTP_DEADLINE_EXCEEDED' })
    await waiting.promise
    await clock.advance(15 * 60_000)
    await outcome
  })
})

async function* forever(onStart: () => void): AsyncGenerator<Uint8Array> {
  yield new Uint8Array(1)
  onStart()
  await new Promise(() => undefined)
}
