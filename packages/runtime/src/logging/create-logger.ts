/** The logger of an operator: JSON lines by pino, with secrets redacted and a level that can change while running. */
import { redactText } from '@reeve/http'
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
  return new ThresholdLogger({ root, threshold, secretPatterns }, () => ({})).child(fields)
}

type Fields = Readonly<Record<string, unknown>>

/** What a logger and all its children share. */
interface SharedLogging {
  readonly root: PinoLogger
  readonly threshold: { level: LogLevel }
  readonly secretPatterns: readonly RegExp[]
}

/** Without children of pino: most reconciles have a logger of their own and write one line or none. */
class ThresholdLogger implements LevelLogger {
  readonly #shared: SharedLogging
  /** Redacted by the first line. */
  readonly #makeBound: () => Fields
  #bound: Fields | undefined

  constructor(shared: SharedLogging, makeBound: () => Fields) {
    this.#shared = shared
    this.#makeBound = makeBound
  }

  get level(): LogLevel {
    return this.#shared.threshold.level
  }

  set level(level: LogLevel) {
    this.#shared.threshold.level = checkLevel(level)
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

  child(fields: Fields): LevelLogger {
    return new ThresholdLogger(this.#shared, () => ({ ...this.#boundFields(), ...this.#safe(fields) }))
  }

  #write(level: 'debug' | 'info' | 'warn' | 'error', fields: object, message: string): void {
    const { root, threshold, secretPatterns } = this.#shared
    if (SEVERITY[level] < SEVERITY[threshold.level]) return
    root[level]({ ...this.#boundFields(), ...this.#safe(fields) }, redactText(message, secretPatterns))
  }

  #boundFields(): Fields {
    this.#bound ??= this.#makeBound()
    return this.#bound
  }

  #safe(fields: object): Fields {
    return redact(fields, this.#shared.secretPatterns) as Fields // the redaction of an object is an object
  }
}

function checkLevel(level: LogLevel): LogLevel {
  if (SEVERITY[level] === undefined) {
    throw new RangeError(`unknown log level "${level}": use one of ${Object.keys(SEVERITY).join(', ')}`)
  }
  return level
}
