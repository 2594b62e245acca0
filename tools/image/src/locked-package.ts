/** npm packages in the version that this repository pins, for any platform. */
import { createHash } from 'node:crypto'
import { cp, mkdir, readFile, rm } from 'node:fs/promises'
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

/** Downloads a package through npm, verifies it by the hash of the lock file, and returns the folder of its files. */
export async function fetchPackage(name: string, { repository, cache, signal }: PackageSource): Promise<string> {
  const { version, integrity = '' } = await locked(repository, name)
  const folder = join(cache, `${basename(name)}-${version}`)
  await fetchVerified(`${name}@${version}`, integrity, folder, signal)
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

async function fetchVerified(spec: string, integrity: string, folder: string, signal?: AbortSignal): Promise<void> {
  const archive = `${folder}.tgz`
  if (!(await hasIntegrity(archive, integrity))) {
    await mkdir(folder, { recursive: true })
    const packed = await runProcess('npm', ['pack', spec, '--json', '--pack-destination', folder], {
      ...(signal && { signal }),
    })
    // npm prints a list with one entry per package, or an object by package name, depending on its version.
    const [entry] = Object.values(JSON.parse(packed) as Record<string, { readonly filename: string }>)
    if (entry === undefined) throw new ImageError(`npm pack ${spec} printed no file`)
    await cp(join(folder, entry.filename), archive)
    await rm(folder, { recursive: true })
    if (!(await hasIntegrity(archive, integrity))) {
      throw new ImageError(`${spec} does not have the hash of package-lock.json`)
    }
  }
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  await extract({ file: archive, cwd: folder, strip: 1 })
}

async function hasIntegrity(file: string, integrity: string): Promise<boolean> {
  const content = await readFile(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  return content !== undefined && `sha512-${createHash('sha512').update(content).digest('base64')}` === integrity
}
