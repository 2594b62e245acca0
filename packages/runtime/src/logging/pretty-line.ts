/** Turns a JSON log line into a readable one. */

const COLUMN: Readonly<Record<string, string>> = { debug: 'DEBUG', info: 'INFO ', warn: 'WARN ', error: 'ERROR' }

/**
 * `12:00:00.000 INFO  created deployment namespace=shop name=web`. A line that is not JSON is unchanged.
 *
 * @example
 * process.stdout.write(prettyLine('{"level":"info","time":"2030-01-01T12:00:00.000Z","msg":"started"}'))
 */
export function prettyLine(line: string): string {
  const record = parse(line)
  if (record === undefined) return line
  const { level, time, msg, ...fields } = record
  const parts = [String(time).slice(11, 23), COLUMN[String(level)] ?? String(level), String(msg)]
  for (const [name, value] of Object.entries(fields)) {
    if (!isError(value)) parts.push(`${name}=${inline(value)}`)
  }
  let text = `${parts.join(' ')}\n`
  for (const value of Object.values(fields)) {
    if (isError(value)) text += `    ${(value.stack ?? `${value.type}: ${value.message}`).replaceAll('\n', '\n    ')}\n`
  }
  return text
}

function parse(line: string): Record<string, unknown> | undefined {
  try {
    const record: unknown = JSON.parse(line)
    return typeof record === 'object' && record !== null ? { ...record } : undefined
  } catch {
    // Not a log line of ours: shown unchanged.
    return undefined
  }
}

/** An error as `redact` writes it; expected ones have no stack. */
function isError(
  value: unknown,
): value is { readonly type: string; readonly message: string; readonly stack?: string } {
  if (typeof value !== 'object' || value === null || !('message' in value) || typeof value.message !== 'string') {
    return false
  }
  return 'type' in value && typeof value.type === 'string'
}

function inline(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value)
  return /^[\w./:@+-]+$/.test(value) ? value : JSON.stringify(value)
}
