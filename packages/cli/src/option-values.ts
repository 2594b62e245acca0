/** Parses the values of options; an invalid value ends the command with an error. */
import { InvalidArgumentError } from 'commander'

/** The highest TCP port. */
const MAX_PORT = 65_535

/**
 * Collects the values of a repeatable option; `undefined` if it is not given.
 *
 * @example
 * cli.option('--watch-namespace <name>', 'watch this namespace only; may be repeated', append)
 */
export function append(value: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, value]
}

/**
 * A positive integer.
 *
 * @example
 * cli.option('--concurrency <count>', 'resources reconciled concurrently', positiveInteger, 10)
 */
export function positiveInteger(value: string): number {
  const number = Number(value)
  if (!Number.isInteger(number) || number < 1) throw new InvalidArgumentError('It must be a positive integer.')
  return number
}

/**
 * A port to listen on; 0 chooses an unused one.
 *
 * @example
 * cli.option('--health-port <port>', 'port of /healthz', port, 8080)
 */
export function port(value: string): number {
  const number = Number(value)
  if (value.trim() === '' || !Number.isInteger(number) || number < 0 || number > MAX_PORT) {
    throw new InvalidArgumentError(`It must be a port between 0 and ${MAX_PORT}.`)
  }
  return number
}
