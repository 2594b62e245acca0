/** Mounts by system calls, on separate threads: unmounting an overlay waits for its file system. */
import { constants } from 'node:os'
import { getSystemErrorName } from 'node:util'
import { MountError, type Mounts, overlayData } from './mounts.ts'

/** From `sys/mount.h`. */
const MS_BIND = 4096
const MNT_DETACH = 2
const UMOUNT_NOFOLLOW = 8

const { EINVAL, ELOOP, ENOENT, ENOTDIR } = constants.errno

/** Not a mount point, missing, or at a path at which nothing can be. */
const NOT_MOUNTED: readonly number[] = [EINVAL, ENOENT, ENOTDIR, ELOOP]

/** A function of the C library: the result, and `errno` for a negative one. */
type SystemCall = (...args: readonly (string | number | null)[]) => Promise<number>

/**
 * Mounts through the C library that Node.js itself is linked to.
 *
 * *Errors*: if the native addon has no build for this processor.
 *
 * @example
 * const mounts = await kernelMounts()
 * await mounts.bind('/data/_dynakubes/shop/osagent', target)
 */
export async function kernelMounts(): Promise<Mounts> {
  const { default: koffi } = await import('koffi')
  const library = koffi.load(null)
  const call = (declaration: string): SystemCall => {
    const native = library.func(declaration)
    return (...args) =>
      new Promise((resolve, reject) => {
        native.async(...args, (error: unknown, result: number) => {
          if (error) reject(error)
          // Only valid inside this callback.
          else resolve(result === 0 ? 0 : koffi.errno())
        })
      })
  }
  const mount = call(
    'int mount(const char *source, const char *target, const char *type, unsigned long flags, const char *data)',
  )
  const umount = call('int umount2(const char *target, int flags)')
  const check = (errno: number, what: string) => {
    if (errno !== 0) throw new MountError(`${what}: ${getSystemErrorName(-errno)}`)
  }
  return {
    async overlay(options) {
      const { target } = options
      check(await mount('overlay', target, 'overlay', 0, overlayData(options)), `cannot mount an overlay at ${target}`)
    },
    async bind(source, target) {
      check(await mount(source, target, null, MS_BIND, null), `cannot bind ${source} to ${target}`)
    },
    async unmount(target, how) {
      const errno = await umount(target, UMOUNT_NOFOLLOW | (how === 'lazily' ? MNT_DETACH : 0))
      if (NOT_MOUNTED.includes(errno)) return false
      check(errno, `cannot unmount ${target}`)
      return true
    },
  }
}
