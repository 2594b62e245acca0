/** The required methods of a logger; pino and the runtime's logger have them. */
export interface ClientLogger {
  debug(fields: object, message: string): void
  warn(fields: object, message: string): void
}
