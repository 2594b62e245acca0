/** npm packages in the version that this repository pins, for any platform. */
import { createHash } from 'node:crypto'
import { access, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { extract } from 'tar'
import { ImageError } from './image-error.ts'
import { runProcess } from './run-process.ts'

/** Where packages come from and are kept. */
export interface PackageSource {
  /** Root of the repository. */
  readonly repository: string
  readonly cache: string
  readonly signal?: AbortSignal
}

/** What is known of a package from the lock file. */
interface LockedPackage {
  readonly version: string
  readonly integrity?: string
}

/** The version of a package. */
export async function lockedVersion(repository: string, name: string): Promise<string> {
  return (await locked(repository, name)).version
}

/**
 * Downloads a package through npm, verifies it by the hash of the lock file, and returns the folder of its files.
 *
 * *Guarantees*: the folder is complete, also while other builds use the same cache.
 */
export async function fetchPackage(name: string, { repository, cache, signal }: PackageSource): Promise<string> {
  const { version, integrity = '' } = await locked(repository, name)
  const hash = createHash('sha256').update(integrity).digest('hex').slice(0, 12)
  const folder = join(cache, `${basename(name)}-${version}-${hash}`)
  if (await exists(folder)) return folder
  await mkdir(cache, { recursive: true })
  const work = await mkdtemp(`${folder}.partial-`)
  try {
    const archive = await download(`${name}@${version}`, integrity, work, signal)
    const files = join(work, 'files')
    await mkdir(files)
    await extract({ file: archive, cwd: files, strip: 1 })
    await rename(files, folder).catch(async (error: NodeJS.ErrnoException) => {
      // Another build was faster: what it unpacked has the same hash.
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error
    })
  } finally {
    await rm(work, { recursive: true, force: true })
  }
  return folder
}

async function locked(repository: string, name: string): Promise<LockedPackage> {
  // Our own lock file: its shape is known.
  const lock = JSON.parse(await readFile(join(repository, 'package-lock.json'), 'utf8')) as {
    packages: Readonly<Record<string, LockedPackage>>
  }
  const found = lock.packages[`node_modules/${name}`]
  if (found === undefined) throw new ImageError(`package-lock.json does not pin ${name}`)
  return found
}

async function download(spec: string, integrity: string, folder: string, signal?: AbortSignal): Promise<string> {
  const packed = await runProcess('npm', ['pack', spec, '--json', '--pack-destination', folder], {
    ...(signal && { signal }),
  })
  // npm prints a list with one entry per package, or an object by package name, depending on its version.
  const [entry] = Object.values(JSON.parse(packed) as Record<string, { readonly filename: string }>)
  if (entry === undefined) throw new ImageError(`npm pack ${spec} printed no file`)
  const archive = join(folder, entry.filename)
  const found = `sha512-${createHash('sha512')
    .update(await readFile(archive))
    .digest('base64')}`
  if (found !== integrity) throw new ImageError(`${spec} does not have the hash of package-lock.json`)
  return archive
}

/** Whether there is something at a path. */
export function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
