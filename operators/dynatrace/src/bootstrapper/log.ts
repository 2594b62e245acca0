/** The log of an init container: JSON lines like those of the operator, without the library that writes those. */
import { writeSync } from 'node:fs'
import { redactText } from '@reeve/http/redact'
import { DYNATRACE_TOKENS } from '../token-patterns.ts'

/** Writes lines. */
export interface Log {
  debug(fields: Fields, message: string): void
  info(fields: Fields, message: string): void
  error(fields: Fields, message: string): void
}

type Fields = Readonly<Record<string, unknown>>

const STANDARD_ERROR = 2
const SEVERITY = { debug: 0, info: 1, warn: 2, error: 3 } as const

/**
 * A log on standard error.
 *
 * @param level the minimum level; unknown ones mean info
 *
 * @example
 * createLog(process.env.LOG_LEVEL).info({ version }, 'downloaded the agent')
 */
export function createLog(
  level: string | undefined,
  write: (line: string) => void = (line) => void writeSync(STANDARD_ERROR, line),
): Log {
  const known = Object.entries(SEVERITY).find(([name]) => name === level)
  const threshold = known?.[1] ?? SEVERITY.info
  const at = (name: keyof typeof SEVERITY) => (fields: Fields, msg: string) => {
    if (SEVERITY[name] < threshold) return
    const line = JSON.stringify({ level: name, time: new Date().toISOString(), ...shown(fields), msg })
    write(`${redactText(line, DYNATRACE_TOKENS)}\n`)
  }
  return { debug: at('debug'), info: at('info'), error: at('error') }
}

function shown({ err, ...fields }: Fields): Fields {
  if (err === undefined) return fields
  if (!(err instanceof Error)) return { ...fields, err: String(err) }
  const { name: type, message, cause, stack } = err
  const code = 'code' in err ? err.code : undefined
  const reason = cause instanceof Error ? { cause: { message: cause.message } } : {}
  return { ...fields, err: { type, code, message, ...reason, stack } }
}
