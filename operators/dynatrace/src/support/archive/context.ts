/** What the collectors of an archive work with. */
import type { ZipWriter } from '@reeve/archives/zip-writer'
import type { DiscoveringClient } from '@reeve/kube'
import type { Modules } from '../../api/validation/modules.ts'
import type { ArchiveConsole } from './console.ts'
import type { Redact } from './redaction.ts'

/** What to collect. */
export interface ArchiveOptions {
  /** The operator's namespace. */
  readonly namespace: string
  /** Also logs of pods that the operator rolled out. */
  readonly managedLogs: boolean
  /** Warnings of the namespace to collect at most. */
  readonly numEvents: number
  readonly loadsimFiles: number
  readonly loadsimFileSizeMiB: number
}

/** One archive. */
export interface ArchiveContext extends ArchiveOptions {
  readonly client: DiscoveringClient
  readonly modules: Modules
  /** `app.kubernetes.io/name` of the operator's pods; what it rolled out is managed by this name. */
  readonly appName: string
  readonly operatorVersion: string
  readonly zip: ZipWriter
  readonly console: ArchiveConsole
  readonly redact: Redact
  readonly signal: AbortSignal
  /** Writes the report of `troubleshoot`. */
  readonly troubleshoot: (write: (text: string) => void) => Promise<void>
}

/** A part of the archive. A failure is noted, and the next one runs. */
export interface Collector {
  readonly name: string
  readonly collect: (context: ArchiveContext) => Promise<void>
}

/** One request may take this long. */
export const REQUEST_TIMEOUT_MS = 30_000
/** A log is read for this long at most. */
export const LOG_TIMEOUT_MS = 120_000
/** More of one log is not collected. */
export const MAX_LOG_BYTES = 64 * 1024 * 1024
