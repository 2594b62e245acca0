/** Mounts by `mount(8)` and `umount(8)`, for processors without a build of the native addon. */
import { execFile } from 'node:child_process'
import { lstat } from 'node:fs/promises'
import { promisify } from 'node:util'
import { MountError, type Mounts, overlayData } from './mounts.ts'

const run = promisify(execFile)

/** The driver must not wait forever for a tool that waits for a device. */
const TIMEOUT_MS = 60_000

/** Nothing is mounted at the path, or nothing can be; in English, which the locale ensures. */
const NOT_MOUNTED = /not mounted|no mount point|not found|Not a directory|Too many levels of symbolic links/

/**
 * Mounts through the tools of util-linux.
 *
 * @example
 * const mounts = await kernelMounts().catch(toolMounts)
 */
export function toolMounts(): Mounts {
  const call = async (tool: string, args: readonly string[]): Promise<void> => {
    try {
      await run(tool, args, { timeout: TIMEOUT_MS, env: { PATH: process.env.PATH, LC_ALL: 'C' } })
    } catch (error) {
      throw new MountError(error instanceof Error ? error.message.trim() : String(error), { cause: error })
    }
  }
  return {
    overlay: (options) => call('mount', ['-t', 'overlay', '-o', overlayData(options), 'overlay', options.target]),
    bind: (source, target) => call('mount', ['-o', 'bind', source, target]),
    async unmount(target, how) {
      // The tool follows links, and has no option against it.
      const status = await lstat(target).catch(() => undefined)
      if (status?.isSymbolicLink()) return false
      try {
        await call('umount', [...(how === 'lazily' ? ['--lazy'] : []), target])
        return true
      } catch (error) {
        if (error instanceof MountError && NOT_MOUNTED.test(error.message)) return false
        throw error
      }
    },
  }
}
