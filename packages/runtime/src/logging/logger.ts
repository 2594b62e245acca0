/** What the runtime needs of a logger; pino satisfies it. */

/**
 * A structured logger: a constant lower-case message, variable parts as fields, an error as the field `err`.
 *
 * @example
 * logger.info({ namespace: 'default', name: 'web' }, 'created deployment')
 */
export interface Logger {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
  /** A logger with `fields` bound to every line. */
  child(fields: Record<string, unknown>): Logger
}

/** Discards everything: the default where no logger is given. */
export const silentLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => silentLogger,
}
