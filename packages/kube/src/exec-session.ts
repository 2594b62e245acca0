/** The channels of a command in a container: input, both outputs, and the status at its end. */
import type { Duplex } from 'node:stream'
import { isRecord } from '@reeve/http'
import { BadResponseError, ConnectionError } from './errors.ts'
import type { ExecResult } from './pod-streams.ts'
import { describeTarget, type RequestTarget } from './request-target.ts'
import { WebSocketClient, WebSocketError } from './web-socket.ts'

/** In the order of preference. Only the first can end the input of a command. */
export const EXEC_PROTOCOLS: readonly string[] = ['v5.channel.k8s.io', 'v4.channel.k8s.io']

const CHANNELS = { stdin: 0, stdout: 1, stderr: 2, error: 3, close: 255 } as const
/** Servers send output in pieces of at most 32 KiB. */
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024

/** One command. */
export interface ExecSession {
  readonly target: RequestTarget
  readonly stdin: string | Uint8Array | undefined
  readonly maxOutputBytes: number
}

/** Runs the session to its end; the connection is closed in any case. */
export async function runExecSession(stream: Duplex, session: ExecSession): Promise<ExecResult> {
  const { target, stdin, maxOutputBytes } = session
  const socket = new WebSocketClient(stream, MAX_MESSAGE_BYTES)
  const output: { readonly [channel: number]: Buffer[] } = { [CHANNELS.stdout]: [], [CHANNELS.stderr]: [] }
  let room = maxOutputBytes
  let isTruncated = false
  let status: Buffer | undefined
  try {
    if (stdin !== undefined) {
      socket.send(Buffer.concat([Buffer.from([CHANNELS.stdin]), Buffer.from(stdin)]))
      socket.send(Buffer.from([CHANNELS.close, CHANNELS.stdin]))
    }
    for await (const message of socket.messages()) {
      const content = message.subarray(1)
      if (message[0] === CHANNELS.error) status = Buffer.concat([status ?? Buffer.alloc(0), content])
      const kept = output[message[0] ?? CHANNELS.error]
      if (kept === undefined) continue
      isTruncated ||= content.length > room
      const part = content.subarray(0, room)
      room -= part.length
      if (part.length > 0) kept.push(Buffer.from(part))
    }
  } catch (error) {
    if (error instanceof WebSocketError) {
      throw new ConnectionError(`${describeTarget(target)}: ${error.message}`, 'response', { cause: error })
    }
    throw error
  } finally {
    socket.destroy()
  }
  return {
    exitCode: exitCodeOf(target, status),
    stdout: Buffer.concat(output[CHANNELS.stdout] ?? []),
    stderr: Buffer.concat(output[CHANNELS.stderr] ?? []),
    isTruncated,
  }
}

function exitCodeOf(target: RequestTarget, content: Buffer | undefined): number {
  const status = parseStatus(target, content)
  if (status.status === 'Success') return 0
  const details = isRecord(status.details) ? status.details : {}
  const causes = Array.isArray(details.causes) ? details.causes.filter(isRecord) : []
  const cause = causes.find(({ reason }) => reason === 'ExitCode')
  const exitCode = Number(cause?.message)
  if (Number.isInteger(exitCode)) return exitCode
  const message = typeof status.message === 'string' ? status.message : 'the command could not be run'
  throw new BadResponseError(target, message.slice(0, 2_048))
}

function parseStatus(target: RequestTarget, content: Buffer | undefined): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(content?.toString() ?? '')
    if (isRecord(value)) return value
  } catch {
    // Falls through: the parser's message would quote output of the command.
  }
  throw new BadResponseError(target, 'the command ended without a valid status; check the node of the pod')
}
