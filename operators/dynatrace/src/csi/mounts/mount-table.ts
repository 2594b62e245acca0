/** The kernel's table of mounts. */
import { lstatSync } from 'node:fs'
import { readFile, realpath } from 'node:fs/promises'
import { join, relative } from 'node:path'

/** One mount. */
export interface Mount {
  /** Of the file system; mounts that show the same one have the same. */
  readonly device: string
  /** The directory of the file system that is visible at the mount point. */
  readonly root: string
  readonly mountPoint: string
  readonly type: string
  /** Of the file system, such as `lowerdir` of an overlay. */
  readonly options: Readonly<Record<string, string>>
}

/**
 * The mounts that this process sees, in the order in which they were made.
 *
 * @example
 * const overlays = (await readMounts()).filter(({ type }) => type === 'overlay')
 */
export async function readMounts(): Promise<readonly Mount[]> {
  return parseMounts(await readFile('/proc/self/mountinfo', 'utf8'))
}

/** Parses the text of `/proc/self/mountinfo`. */
export function parseMounts(table: string): readonly Mount[] {
  return table.split('\n').flatMap((line) => {
    // The number of optional fields varies; a lone dash ends them.
    const [mount = '', fileSystem] = line.split(' - ')
    const [, , device = '', root = '', mountPoint = ''] = mount.split(' ')
    if (fileSystem === undefined || mountPoint === '') return []
    const [type = '', , superOptions = ''] = fileSystem.split(' ')
    const paths = { root: unescaped(root), mountPoint: unescaped(mountPoint) }
    return [{ device, ...paths, type, options: parseOptions(superOptions) }]
  })
}

/**
 * Whether something is mounted at a path, through symbolic links.
 *
 * *Errors*: those of the file system, except that the path does not exist: then nothing is.
 */
export async function isMountPoint(path: string): Promise<boolean> {
  // Most often nothing is there yet.
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return false
  let real: string
  try {
    real = await realpath(path)
  } catch (error) {
    // A link that leads nowhere.
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false
    throw error
  }
  return (await readMounts()).some(({ mountPoint }) => mountPoint === real)
}

/**
 * Where else the file system is visible that is mounted at a path.
 *
 * @example
 * placesOf('/data/appmounts/csi-1/mapped', await readMounts()) // ['/var/lib/kubelet/pods/…/mount']
 */
export function placesOf(path: string, mounts: readonly Mount[]): readonly string[] {
  const devices = new Set(mounts.filter(({ mountPoint }) => mountPoint === path).map(({ device }) => device))
  return mounts
    .filter(({ device, mountPoint }) => devices.has(device) && mountPoint !== path)
    .map(({ mountPoint }) => mountPoint)
}

/**
 * Whether a directory is bound to another place: the directory itself is not a mount point then.
 *
 * @example
 * isBoundElsewhere('/data/_dynakubes/shop/osagent', await readMounts())
 */
export function isBoundElsewhere(path: string, mounts: readonly Mount[]): boolean {
  const isAround = ({ mountPoint }: Mount) => `${path}/`.startsWith(mountPoint === '/' ? '/' : `${mountPoint}/`)
  // The longest one, and of several at one place the last.
  const around = mounts
    .filter(isAround)
    .reduce<Mount | undefined>(
      (best, mount) => (mount.mountPoint.length >= (best?.mountPoint.length ?? 0) ? mount : best),
      undefined,
    )
  if (around === undefined) return false
  const inside = join(around.root, relative(around.mountPoint, path))
  return mounts.some(
    ({ device, root, mountPoint }) => device === around.device && root === inside && mountPoint !== path,
  )
}

function parseOptions(text: string): Readonly<Record<string, string>> {
  const pairs = text.split(',').map((option) => {
    const [name = '', ...value] = option.split('=')
    return [name, unescaped(value.join('='))] as const
  })
  return Object.fromEntries(pairs)
}

/** Spaces, tabs, line ends and backslashes are written as octal numbers. */
function unescaped(text: string): string {
  return text.replaceAll(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))
}
