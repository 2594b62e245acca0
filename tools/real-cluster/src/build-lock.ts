/** One build at a time per folder, across processes. */
import { open, rm, stat, utimes } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { BUILD_HEARTBEAT_MS, BUILD_LOCK_STALE_MS } from './defaults.ts'

/**
 * Runs `action` while holding the lock file `path`.
 *
 * Guarantees: the holder touches the file periodically, so a lock left by a killed process is taken over after
 * `BUILD_LOCK_STALE_MS` and never blocks forever.
 */
export async function withBuildLock<T>(
  path: string,
  action: () => Promise<T>,
  options: { readonly onWaiting?: () => void; readonly signal?: AbortSignal } = {},
): Promise<T> {
  let isWaitingReported = false
  while (!(await acquire(path))) {
    if (!isWaitingReported) options.onWaiting?.()
    isWaitingReported = true
    if (await isStale(path)) await rm(path, { force: true })
    else await sleep(500, undefined, { signal: options.signal })
  }
  const heartbeat = setInterval(() => {
    const now = new Date()
    // A failed touch only makes the lock look stale; the build itself is not affected.
    utimes(path, now, now).catch(() => undefined)
  }, BUILD_HEARTBEAT_MS)
  try {
    return await action()
  } finally {
    clearInterval(heartbeat)
    await rm(path, { force: true })
  }
}

async function acquire(path: string): Promise<boolean> {
  try {
    const file = await open(path, 'wx')
    await file.writeFile(`${process.pid}\n`)
    await file.close()
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  }
}

async function isStale(path: string): Promise<boolean> {
  try {
    return Date.now() - (await stat(path)).mtimeMs > BUILD_LOCK_STALE_MS
  } catch (error) {
    // Released between the two calls: the next attempt to acquire it decides.
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false
    throw error
  }
}
