/** Logs of containers, and commands run in them. */
import type { RequestOptions } from './client.ts'
import type { ObjectKey } from './objects.ts'

/** Options of {@link PodStreams.logs}. */
export interface LogOptions extends RequestOptions {
  /** Required when the pod has several containers. */
  readonly container?: string
  /** Continue with what the container writes later, until it terminates. @default false */
  readonly follow?: boolean
  /** The log of the run before the last restart. The server responds with 400 when there is none. @default false */
  readonly previous?: boolean
  /** Only the last lines. @default all */
  readonly tailLines?: number
  /** Only lines from this time on, in RFC 3339. @default all */
  readonly sinceTime?: string
  /** The server ends the log after this many bytes. @default no limit */
  readonly limitBytes?: number
  /** Start each line with its time. @default false */
  readonly timestamps?: boolean
  /**
   * Deadline for the whole log.
   * @default 30_000; none with `follow`
   */
  readonly timeoutMs?: number
}

/** Options of {@link PodStreams.exec}. */
export interface ExecOptions extends RequestOptions {
  /** Required when the pod has several containers. */
  readonly container?: string
  /** The program and its arguments. No shell is involved. */
  readonly command: readonly string[]
  /** Sent to the program, followed by the end of its input. @default no input */
  readonly stdin?: string | Uint8Array
  /** Output beyond this, of stdout and stderr together, is dropped. @default 1 MiB */
  readonly maxOutputBytes?: number
}

/** What a command wrote, and how it ended. */
export interface ExecResult {
  readonly exitCode: number
  readonly stdout: Uint8Array
  readonly stderr: Uint8Array
  /** Whether output was dropped because of `maxOutputBytes`. */
  readonly isTruncated: boolean
}

/** Streams of pods. All methods reject with `ApiError` when the server responds with an error. */
export interface PodStreams {
  /**
   * The log of a container as it arrives. Leaving the loop cancels the request. Not retried: part of the log may have
   * been read already.
   *
   * @example
   * for await (const chunk of client.logs({ namespace: 'shop', name: 'web' }, { tailLines: 100 })) process.stdout.write(chunk)
   */
  logs(pod: ObjectKey, options?: LogOptions): AsyncIterable<Uint8Array>
  /**
   * Runs a command in a container, over a WebSocket. A non-zero exit code is a result, not an error. Not retried: the
   * command may have run.
   *
   * @example
   * const { exitCode, stdout } = await client.exec({ namespace: 'shop', name: 'web' }, { command: ['cat', '/etc/hostname'] })
   */
  exec(pod: ObjectKey, options: ExecOptions): Promise<ExecResult>
}
