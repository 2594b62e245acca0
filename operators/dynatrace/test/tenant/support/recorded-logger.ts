/** A logger that records everything: nothing is redacted here. */
import type { Logger } from '@reeve/runtime'

/** One line. */
export interface RecordedLine {
  readonly message: string
  readonly fields: object
}

/** A logger and its lines. */
export function recordedLogger(): { readonly logger: Logger; readonly lines: readonly RecordedLine[] } {
  const lines: RecordedLine[] = []
  const write = (fields: object, message: string) => {
    lines.push({ message, fields })
  }
  const logger: Logger = { debug: write, info: write, warn: write, error: write, child: () => logger }
  return { logger, lines }
}
