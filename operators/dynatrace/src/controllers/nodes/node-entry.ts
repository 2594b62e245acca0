/** What is recorded about a node, and its format in the ConfigMap: one that other releases of the operator read, too. */
import { isRecord } from '@reeve/http'
import { formatTime } from '@reeve/runtime'

/** What is needed about a node after it was removed. */
export interface NodeEntry {
  /** When it was last known to be there. */
  readonly seenMs: number
  /** When its termination was last reported to the tenant. */
  readonly markedMs?: number
  /** By which the tenant knows its host. */
  readonly ip: string
  /** The DynaKube whose agent runs there; only for people. */
  readonly instance: string
}

/** How a time that never was is written. */
const NEVER = '0001-01-01T00:00:00Z'

/** Parses an entry; `undefined` if it is invalid. */
export function parseEntry(text: string | undefined): NodeEntry | undefined {
  let value: unknown
  try {
    value = JSON.parse(text ?? '')
  } catch {
    // A manual change: the entry is replaced on the next event of the node.
    return undefined
  }
  if (!isRecord(value)) return undefined
  const markedMs = timeMs(value.marked)
  return {
    seenMs: timeMs(value.seen) ?? 0,
    ...(markedMs !== undefined && { markedMs }),
    ip: typeof value.ip === 'string' ? value.ip : '',
    instance: typeof value.instance === 'string' ? value.instance : '',
  }
}

/** Writes an entry. */
export function formatEntry({ seenMs, markedMs, ip, instance }: NodeEntry): string {
  const marked = markedMs === undefined ? NEVER : formatTime(markedMs)
  return JSON.stringify({ seen: formatTime(seenMs), marked, ip, instance })
}

function timeMs(text: unknown): number | undefined {
  const value = typeof text === 'string' ? Date.parse(text) : Number.NaN
  return value > 0 ? value : undefined
}
