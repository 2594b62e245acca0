/** A logger that keeps its lines, for tests of what is logged. */
import type { Logger } from '../logging/logger.ts'

/** One line: level, message and all fields, bound ones included. */
export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>>
}

export function recordingLogger(): Logger & { readonly lines: LogLine[] } {
  const lines: LogLine[] = []
  const make = (bound: Readonly<Record<string, unknown>>): Logger => {
    const at = (level: LogLine['level']) => (fields: object, message: string) => {
      lines.push({ level, message, fields: { ...bound, ...fields } })
    }
    return {
      debug: at('debug'),
      info: at('info'),
      warn: at('warn'),
      error: at('error'),
      child: (fields) => make({ ...bound, ...fields }),
    }
  }
  return { ...make({}), lines }
}
