/** The kernel's table of mounts. */
import { readFile, realpath } from 'node:fs/promises'

/** One mount. */
export interface Mount {
  /** Of the file system; mounts that show the same one have the same. */
  readonly device: string
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
    const [, , device = '', , mountPoint = ''] = mount.split(' ')
    if (fileSystem === undefined || mountPoint === '') return []
    const [type = '', , superOptions = ''] = fileSystem.split(' ')
    return [{ device, mountPoint: unescaped(mountPoint), type, options: parseOptions(superOptions) }]
  })
}

/**
 * Whether something is mounted at a path, through symbolic links.
 *
 * *Errors*: those of the file system, except that the path does not exist: then nothing is.
 */
export async function isMountPoint(path: string): Promise<boolean> {
  let real: string
  try {
    real = await realpath(path)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false
    throw error
  }
  return (await readMounts()).some(({ mountPoint }) => mountPoint === real)
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
