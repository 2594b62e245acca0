import { PassThrough } from 'node:stream'
import { constants, createDeflate } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { systemClock } from '../clock.ts'
import { controlFrame, dataFrame, FRAME, FrameReader, words } from '../spdy/frames.ts'
import { HEADER_DICTIONARY } from '../spdy/header-dictionary.ts'
import { type CommandStreams, type RequestedStreams, serveCommandBySpdy } from './command-streams.ts'

const requested: RequestedStreams = { stdin: true, stdout: true, stderr: true, tty: false }

/** The client of one connection: what it sends, and what it receives by stream. */
class Client {
  readonly #sent = new PassThrough()
  readonly #deflate = createDeflate({ dictionary: HEADER_DICTIONARY })
  readonly #frames = new FrameReader()
  readonly received = new Map<number, string>()
  readonly ended = new Set<number>()
  readonly resets = new Set<number>()
  readonly channel = {
    chunks: this.#sent,
    send: async (bytes: Uint8Array) => {
      for (const { type, streamId, isLast, payload } of this.#frames.read(bytes)) {
        if (type === FRAME.rstStream) this.resets.add(streamId)
        if (type !== undefined) continue
        this.received.set(streamId, `${this.received.get(streamId) ?? ''}${payload}`)
        if (isLast) this.ended.add(streamId)
      }
    },
  }

  send(bytes: Uint8Array): void {
    this.#sent.write(bytes)
  }

  async open(streamId: number, type: string): Promise<void> {
    this.send(await this.openFrame(streamId, type))
  }

  async openFrame(streamId: number, type: string): Promise<Buffer> {
    const name = 'streamtype'
    const output: Buffer[] = []
    const keep = (chunk: Buffer) => output.push(chunk)
    this.#deflate.on('data', keep)
    this.#deflate.write(
      Buffer.concat([words(1, name.length), Buffer.from(name), words(type.length), Buffer.from(type)]),
    )
    await new Promise<void>((resolve) => this.#deflate.flush(constants.Z_SYNC_FLUSH, resolve))
    this.#deflate.off('data', keep)
    return controlFrame(FRAME.synStream, Buffer.concat([words(streamId, 0), Buffer.alloc(2), ...output]))
  }

  close(): void {
    this.#sent.end()
  }
}

const echo = async (streams: CommandStreams) => {
  await streams.write('stdout', await streams.input)
  await streams.write('stderr', 'warning')
  await streams.write('error', '{}')
}

describe('a command by SPDY', () => {
  it('runs when all streams are open, and ends them and the connection', async () => {
    const client = new Client()
    const served = serveCommandBySpdy(client.channel, requested, systemClock, echo)
    await client.open(1, 'error')
    await client.open(3, 'stdin')
    client.send(dataFrame(3, Buffer.from('hel'), false))
    await client.open(5, 'stdout')
    client.send(dataFrame(3, Buffer.from('lo'), true))
    await client.open(7, 'stderr')
    await served
    expect(Object.fromEntries(client.received)).toMatchObject({ 1: '{}', 5: 'hello', 7: 'warning' })
    expect(client.ended).toEqual(new Set([1, 3, 5, 7]))
  })

  it('refuses streams that were not requested, or a second time', async () => {
    const client = new Client()
    const served = serveCommandBySpdy(
      client.channel,
      { ...requested, stdin: false },
      systemClock,
      async () => undefined,
    )
    await client.open(1, 'error')
    await client.open(3, 'stdin')
    await client.open(5, 'stdout')
    await client.open(7, 'stdout')
    await client.open(9, 'stderr')
    await served
    expect(client.resets).toEqual(new Set([3, 7]))
  })

  it('gives a command the input so far when the connection is lost', async () => {
    const client = new Client()
    const input = Promise.withResolvers<string>()
    const served = serveCommandBySpdy(client.channel, requested, systemClock, async (streams) => {
      input.resolve(await streams.input)
    })
    for (const [index, type] of ['error', 'stdin', 'stdout', 'stderr'].entries()) await client.open(2 * index + 1, type)
    client.send(dataFrame(3, Buffer.from('half'), false))
    client.close()
    await served
    expect(await input.promise).toBe('half')
  })

  it('disconnects a client that does not open its streams in time', async () => {
    let fire: () => void = () => undefined
    const clock = {
      now: () => 0,
      schedule: (_delayMs: number, action: () => void) => {
        fire = action
        return { cancel: () => undefined }
      },
    }
    const client = new Client()
    let hasRun = false
    const served = serveCommandBySpdy(client.channel, requested, clock, async () => {
      hasRun = true
    })
    await client.open(1, 'error')
    fire()
    await served
    expect(hasRun).toBe(false)
  })

  it('ends for whatever bytes a client sends', async () => {
    const change = fc.record({ at: fc.nat(400), byte: fc.nat(255) })
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 6 }), fc.nat(400), async (changes, cut) => {
        const client = new Client()
        const frames: Buffer[] = []
        for (const [index, type] of ['error', 'stdin', 'stdout', 'stderr'].entries())
          frames.push(await client.openFrame(2 * index + 1, type))
        const bytes = Buffer.concat([...frames, dataFrame(3, Buffer.from('input'), true)])
        for (const { at, byte } of changes) if (at < bytes.length) bytes[at] = byte
        const served = serveCommandBySpdy(client.channel, requested, systemClock, echo)
        client.send(bytes.subarray(0, Math.max(bytes.length - cut, 0)))
        client.close()
        await served.catch((error: unknown) => expect(error).toBeInstanceOf(Error))
      }),
      { numRuns: 300 },
    )
  })
})
