/** One connection of a watch: ends on abort, when the server ends it, or when it is silent for too long. */
import type { Clock, KubeClient, KubeObject, Resource, WatchEvent, WatchOptions } from '@reeve/kube'
import { WatchSilentError } from './cache-error.ts'

/** Shared: an `AbortError` of its own for every session would cost more than the rest of its end. */
const sessionEnded = new DOMException('the watch session has ended', 'AbortError')

/** Options of {@link watchUntilSilent}. */
export interface WatchSessionOptions {
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Names the watch in errors. */
  readonly what: string
  /** How long silence is tolerated now; called again after each event, so it may change. */
  readonly silenceMs: () => number
}

/**
 * Passes each event of a watch to `onEvent`.
 *
 * *Guarantees*: resolves when the server ends the stream; rejects with {@link WatchSilentError} when nothing arrives
 * for `silenceMs`, with the signal's reason when that aborts, and with whatever the watch or `onEvent` throws; returns
 * promptly in every case, even when the transport below ignores its signal.
 */
export async function watchUntilSilent<T extends KubeObject>(
  client: KubeClient,
  of: Resource<T>,
  watch: Omit<WatchOptions, 'signal'>,
  options: WatchSessionOptions,
  onEvent: (event: WatchEvent<T>) => void,
): Promise<void> {
  const { clock, signal, what, silenceMs } = options
  signal.throwIfAborted()
  const session = new AbortController()
  const endSession = () => session.abort(signal.reason)
  signal.addEventListener('abort', endSession, { once: true })

  let heardAtMs = clock.now()
  let timer = clock.schedule(silenceMs(), checkSilence)
  // One timer per quiet period instead of one per event: when it fires, it checks the time of the last event and is
  // rescheduled.
  function checkSilence(): void {
    const leftMs = heardAtMs + silenceMs() - clock.now()
    if (leftMs <= 0) session.abort(new WatchSilentError(what, silenceMs()))
    else timer = clock.schedule(leftMs, checkSilence)
  }

  // One listener for all events instead of one for each.
  let giveUp: (reason: unknown) => void = () => undefined
  session.signal.addEventListener('abort', () => giveUp(session.signal.reason), { once: true })
  const untilEnded = <R>(next: Promise<R>): Promise<R> =>
    new Promise((resolve, reject) => {
      giveUp = reject
      if (session.signal.aborted) reject(session.signal.reason)
      next.then(resolve, reject)
    })

  const events = client.watch(of, { ...watch, signal: session.signal })[Symbol.asyncIterator]()
  try {
    for (;;) {
      const next = await untilEnded(events.next())
      if (next.done === true) return
      heardAtMs = clock.now()
      onEvent(next.value)
    }
  } finally {
    timer.cancel()
    signal.removeEventListener('abort', endSession)
    session.abort(sessionEnded)
    // The outcome no longer matters: the stream is given up, and waiting for it could hang on a dead connection.
    events.return?.().catch(() => undefined)
  }
}
