/** Runs until the process receives a signal to stop. */
import { constants } from 'node:os'
import { type Logger, silentLogger } from '../logging/logger.ts'

const SIGNALS = ['SIGTERM', 'SIGINT'] as const

/** The part of `process` that is used. */
export interface SignalSource {
  on(signal: NodeJS.Signals, listener: (signal: NodeJS.Signals) => void): unknown
  off(signal: NodeJS.Signals, listener: (signal: NodeJS.Signals) => void): unknown
}

/** Options of {@link runUntilSignal}. */
export interface RunUntilSignalOptions {
  readonly logger?: Logger
  /** @default process */
  readonly source?: SignalSource
}

/**
 * Runs until the process receives a signal to stop, and returns its exit code: 0 after a clean stop, 1 after a failure (which
 * is logged), 128 + the signal's number when a second signal comes before the stop is done: the caller should then exit
 * without waiting.
 *
 * @example
 * process.exit(await runUntilSignal((signal) => manager.run(signal), { logger }))
 */
export async function runUntilSignal(
  run: (signal: AbortSignal) => Promise<void>,
  options: RunUntilSignalOptions = {},
): Promise<number> {
  const { logger = silentLogger, source = process } = options
  const stop = new AbortController()
  const forced = Promise.withResolvers<number>()
  const onSignal = (signal: NodeJS.Signals) => {
    if (stop.signal.aborted) {
      logger.warn({ signal }, 'received a second signal, exiting')
      forced.resolve(128 + constants.signals[signal])
      return
    }
    logger.info({ signal }, 'received a signal, stopping')
    stop.abort(new DOMException(`received ${signal}`, 'AbortError'))
  }
  for (const signal of SIGNALS) source.on(signal, onSignal)
  try {
    return await Promise.race([forced.promise, exitCodeOf(run, stop.signal, logger)])
  } finally {
    for (const signal of SIGNALS) source.off(signal, onSignal)
  }
}

async function exitCodeOf(
  run: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
  logger: Logger,
): Promise<number> {
  try {
    await run(signal)
    return 0
  } catch (error) {
    logger.error({ err: error }, `failed: ${error instanceof Error ? error.message : String(error)}`)
    return 1
  }
}
