/** The one seam through which this package starts processes, so that a test can treat Helm as one outside call. */

/** A command to run. */
export interface ProcessRequest {
  readonly command: string
  /** Seen by every user of the machine: nothing secret belongs here. */
  readonly args: readonly string[]
  /** The complete environment; nothing is inherited. */
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  /** Written to standard input, which is then closed. @default empty */
  readonly stdin?: string
  /** After this the whole process group is sent SIGTERM. */
  readonly timeoutMs: number
  /** How long after SIGTERM it is killed. */
  readonly killGraceMs: number
  /** Most bytes kept of each output stream: the first of standard output, the last of standard error. */
  readonly maxOutputBytes: number
  /** Memory that the command may use: more, and it is killed. On Linux only. @default as much as there is */
  readonly maxMemoryBytes?: number
  readonly signal?: AbortSignal
}

/** How a command ended. */
export interface ProcessOutcome {
  /** `null` when a signal ended it. */
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
  /** Standard output was longer than what was kept. */
  readonly isTruncated: boolean
  /** `exit`: on its own. `timeout`, `abort`, `memory`: killed. */
  readonly endedBy: 'exit' | 'timeout' | 'abort' | 'memory'
}

/**
 * Runs a command to its end.
 *
 * *Guarantees*: resolves only when no process of the command's group is left, however it ended.
 * *Errors*: rejects when the command could not be started at all.
 */
export type RunProcess = (request: ProcessRequest) => Promise<ProcessOutcome>
