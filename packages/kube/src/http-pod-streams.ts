/** The streams of pods over HTTP and WebSocket. */

import { type Clock, Deadline, headerValue, withDeadline } from '@reeve/http'
import { Pods } from './builtin-resources.ts'
import type { RequestOptions } from './client.ts'
import { DEFAULT_MAX_EXEC_OUTPUT_BYTES, DEFAULT_TIMEOUT_MS } from './defaults.ts'
import { BadResponseError, DeadlineExceededError } from './errors.ts'
import type { ObjectKey } from './objects.ts'
import type { ExecOptions, ExecResult, LogOptions, PodStreams } from './pod-streams.ts'
import { asConnectionError, type Call, type RequestExecutor } from './request-executor.ts'
import { objectPath, withQuery } from './request-path.ts'
import { describeObject } from './request-target.ts'

/** {@link PodStreams} through the executor of a client. */
export class HttpPodStreams implements PodStreams {
  readonly #executor: RequestExecutor
  readonly #clock: Clock

  constructor(executor: RequestExecutor, clock: Clock) {
    this.#executor = executor
    this.#clock = clock
  }

  async *logs(pod: ObjectKey, options: LogOptions = {}): AsyncGenerator<Uint8Array, void, undefined> {
    const { follow, timeoutMs = follow ? Number.POSITIVE_INFINITY : DEFAULT_TIMEOUT_MS } = options
    const target = describeObject('get', Pods, pod, 'log')
    const { container, previous, tailLines, sinceTime, limitBytes, timestamps } = options
    const query = { container, follow, previous, tailLines, sinceTime, limitBytes, timestamps }
    const path = withQuery(objectPath(Pods, pod, 'log'), query)
    const onTimeout = () => new DeadlineExceededError(target, timeoutMs)
    using deadline = new Deadline(timeoutMs, this.#bounds(options, onTimeout))
    try {
      deadline.signal.throwIfAborted()
      const call: Call = { target, method: 'GET', path, accept: '*/*', isIdempotent: true, ...identity(options) }
      const response = await this.#executor.open(call, deadline.signal)
      yield* response.body
    } catch (error) {
      deadline.signal.throwIfAborted()
      throw asConnectionError(target, error, 'response')
    }
  }

  async exec(pod: ObjectKey, options: ExecOptions): Promise<ExecResult> {
    const { container, command, stdin, timeoutMs = DEFAULT_TIMEOUT_MS } = options
    // Imported with the first command: hardly any process runs one.
    const [{ handshake }, { EXEC_PROTOCOLS, runExecSession }] = await Promise.all([
      import('./web-socket.ts'),
      import('./exec-session.ts'),
    ])
    const target = describeObject('get', Pods, pod, 'exec')
    const flags = withQuery(objectPath(Pods, pod, 'exec'), {
      container,
      stdin: stdin !== undefined,
      stdout: true,
      stderr: true,
    })
    const path = `${flags}${command.map((word) => `&command=${encodeURIComponent(word)}`).join('')}`
    const { headers, accept } = handshake(EXEC_PROTOCOLS)
    const onTimeout = () => new DeadlineExceededError(target, timeoutMs)
    const bounds = { ...this.#bounds(options, onTimeout), timeoutMs }
    return withDeadline(bounds, async (signal) => {
      const call: Call = {
        target,
        method: 'GET',
        path,
        headers,
        isIdempotent: false,
        upgrade: 'websocket',
        ...identity(options),
      }
      const { socket, headers: answer } = await this.#executor.open(call, signal)
      if (socket === undefined || headerValue(answer, 'sec-websocket-accept') !== accept) {
        socket?.destroy()
        throw new BadResponseError(target, 'the server did not accept the WebSocket; check proxies in between')
      }
      try {
        const maxOutputBytes = options.maxOutputBytes ?? DEFAULT_MAX_EXEC_OUTPUT_BYTES
        return await runExecSession(socket, { target, stdin, maxOutputBytes })
      } catch (error) {
        signal.throwIfAborted()
        throw asConnectionError(target, error, 'response')
      }
    })
  }

  #bounds({ signal }: RequestOptions, onTimeout: () => Error) {
    return { clock: this.#clock, onTimeout, ...(signal && { signal }) }
  }
}

function identity({ impersonate }: RequestOptions): Pick<Call, 'impersonate'> {
  return impersonate === undefined ? {} : { impersonate }
}
