/** The Node binary of a platform: the npm package that this repository pins. */
import { createHash } from 'node:crypto'
import { cp, mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { extract } from 'tar'
import { ImageError } from './image-error.ts'
import { nodePackage, type Platform } from './platform.ts'
import { runProcess } from './run-process.ts'

/** What is known of a package from the lock file. */
interface LockedPackage {
  readonly version: string
  readonly integrity?: string
}

/** The version of Node that images contain. */
export async function nodeVersion(repository: string): Promise<string> {
  return (await locked(repository, 'linux/amd64')).version
}

/** Copies the Node binary of a platform and its licence into `root`. */
export async function installNode(
  platform: Platform,
  root: string,
  { repository, cache, signal }: { repository: string; cache: string; signal?: AbortSignal },
): Promise<void> {
  const { version, integrity = '' } = await locked(repository, platform)
  const folder = join(cache, `${nodePackage(platform)}-${version}`)
  await fetchPackage(`${nodePackage(platform)}@${version}`, integrity, folder, signal)
  await mkdir(join(root, 'usr/local/bin'), { recursive: true })
  await cp(join(folder, 'bin/node'), join(root, 'usr/local/bin/node'))
  await mkdir(join(root, 'usr/share/doc/node'), { recursive: true })
  await cp(join(folder, 'LICENSE'), join(root, 'usr/share/doc/node/copyright'))
}

async function locked(repository: string, platform: Platform): Promise<LockedPackage> {
  // Our own lock file: its shape is known.
  const lock = JSON.parse(await readFile(join(repository, 'package-lock.json'), 'utf8')) as {
    packages: Readonly<Record<string, LockedPackage>>
  }
  const found = lock.packages[`node_modules/${nodePackage(platform)}`]
  if (found === undefined) throw new ImageError(`package-lock.json does not pin ${nodePackage(platform)}`)
  return found
}

/** Downloads a package of any platform through npm and verifies it by the hash of the lock file. */
async function fetchPackage(spec: string, integrity: string, folder: string, signal?: AbortSignal): Promise<void> {
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
