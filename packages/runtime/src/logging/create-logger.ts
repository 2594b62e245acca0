/** The logger of an operator: JSON lines by pino, with secrets redacted and a level that can change while running. */
import { redactText } from '@reeve/kube'
import type { Logger as PinoLogger } from 'pino'
import type { Logger } from './logger.ts'
import { prettyLine } from './pretty-line.ts'
import { redact } from './redact.ts'

/** From the most to the least talkative. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'

/** Where lines go. */
export interface LogDestination {
  write(line: string): void
}

/** Options of {@link createLogger}. */
export interface LoggerOptions {
  /** Lines below this level are dropped. @default 'info' */
  readonly level?: LogLevel
  /** Lines for people instead of JSON. @default false */
  readonly pretty?: boolean
  /** @default the standard error stream, written synchronously so that the last line before an exit is not lost */
  readonly destination?: LogDestination
  /** Bound to every line. @default {} */
  readonly fields?: Readonly<Record<string, unknown>>
  /** Secrets to replace beside the usual ones, such as the tokens of a vendor; global expressions. @default [] */
  readonly secretPatterns?: readonly RegExp[]
}

/** A {@link Logger} whose level can be changed while it is in use. */
export interface LevelLogger extends Logger {
  /** Applies immediately to this logger and all its children. Throws on an unknown level. */
  level: LogLevel
}

const SEVERITY: Readonly<Record<LogLevel, number>> = { debug: 20, info: 30, warn: 40, error: 50, silent: 100 }

/**
 * Makes a logger. pino is loaded here and not before.
 *
 * @example
 * const logger = await createLogger({ level: 'info' })
 * logger.info({ namespace: 'shop', name: 'web' }, 'created deployment')
 * logger.level = 'debug'
 */
export async function createLogger(options: LoggerOptions = {}): Promise<LevelLogger> {
  const { default: pino } = await import('pino')
  const { pretty = false, fields = {}, secretPatterns = [] } = options
  const sink = options.destination ?? pino.destination({ fd: 2, sync: true })
  const stream = pretty ? { write: (line: string) => sink.write(prettyLine(line)) } : sink
  const root = pino(
    {
      base: null,
      // The threshold is ours, because a pino child keeps the level its parent had when it was made.
      level: 'debug',
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      // Fields arrive redacted: pino's own serializer would take such an error for one of class Object with a stack.
      serializers: { err: (error: unknown) => error },
    },
    stream,
  )
  const threshold = { level: checkLevel(options.level ?? 'info') }
  return new ThresholdLogger(() => root, threshold, secretPatterns).child(fields)
}

class ThresholdLogger implements LevelLogger {
  /** A child is made by its first line: most reconciles have one and write none. */
  readonly #makePino: () => PinoLogger
  #pino: PinoLogger | undefined
  readonly #threshold: { level: LogLevel }
  readonly #secretPatterns: readonly RegExp[]

  constructor(makePino: () => PinoLogger, threshold: { level: LogLevel }, secretPatterns: readonly RegExp[]) {
    this.#makePino = makePino
    this.#threshold = threshold
    this.#secretPatterns = secretPatterns
  }

  get level(): LogLevel {
    return this.#threshold.level
  }

  set level(level: LogLevel) {
    this.#threshold.level = checkLevel(level)
  }

  debug(fields: object, message: string): void {
    this.#write('debug', fields, message)
  }

  info(fields: object, message: string): void {
    this.#write('info', fields, message)
  }

  warn(fields: object, message: string): void {
    this.#write('warn', fields, message)
  }

  error(fields: object, message: string): void {
    this.#write('error', fields, message)
  }

  child(fields: Readonly<Record<string, unknown>>): LevelLogger {
    const makePino = () => this.#made().child(this.#safe(fields))
    return new ThresholdLogger(makePino, this.#threshold, this.#secretPatterns)
  }

  #write(level: 'debug' | 'info' | 'warn' | 'error', fields: object, message: string): void {
    if (SEVERITY[level] < SEVERITY[this.#threshold.level]) return
    this.#made()[level](this.#safe(fields), redactText(message, this.#secretPatterns))
  }

  #made(): PinoLogger {
    this.#pino ??= this.#makePino()
    return this.#pino
  }

  #safe(fields: object): Record<string, unknown> {
    return redact(fields, this.#secretPatterns) as Record<string, unknown> // the redaction of an object is an object
  }
}

function checkLevel(level: LogLevel): LogLevel {
  if (SEVERITY[level] === undefined) {
    throw new RangeError(`unknown log level "${level}": use one of ${Object.keys(SEVERITY).join(', ')}`)
  }
  return level
}
