/** Reads the values of options; what cannot be read ends the command with a sentence about it. */
import { InvalidArgumentError } from 'commander'

/** The highest port of TCP. */
const MAX_PORT = 65_535

/**
 * Collects the values of an option that may be repeated; without one there are none, not an empty list.
 *
 * @example
 * cli.option('--watch-namespace <name>', 'watch this namespace only; may be repeated', append)
 */
export function append(value: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, value]
}

/**
 * A whole number above 0.
 *
 * @example
 * cli.option('--concurrency <count>', 'how many at the same time', positiveInteger, 10)
 */
export function positiveInteger(value: string): number {
  const number = Number(value)
  if (!Number.isInteger(number) || number < 1) throw new InvalidArgumentError('It must be a whole number above 0.')
  return number
}

/**
 * A port to listen on; 0 takes a free one.
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
