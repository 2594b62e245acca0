/** Times as the API writes them. */

/** RFC 3339 with seconds, as in `metadata.creationTimestamp`. */
export function timestamp(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 19)}Z`
}

/** Milliseconds since the epoch; `undefined` for nothing. */
export function parseTimestamp(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Date.parse(text)
}
