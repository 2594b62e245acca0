/**
 * The libraries that Node is linked against, taken from Debian packages of pinned versions.
 *
 * apt resolves, downloads and verifies signatures with the sources of this machine, but with its own state, so that
 * packages of another architecture can be downloaded without changing the machine.
 */
import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ImageError } from './image-error.ts'
import { architecture, type Platform } from './platform.ts'
import { runProcess } from './run-process.ts'

/** The version of a package and the hash of its file per architecture. */
export interface PinnedPackage {
  readonly version: string
  readonly sha256: Readonly<Record<string, string>>
}

/** Pinned packages by name. */
export type PinnedPackages = Readonly<Record<string, PinnedPackage>>

/** What is needed to use apt. */
export interface AptOptions {
  /** A folder for apt's state and downloads; kept between builds. */
  readonly folder: string
  readonly signal?: AbortSignal
}

/**
 * Downloads packages and unpacks them into `root`.
 *
 * *Errors*: `ImageError` when a version is no longer offered, or the content does not have the pinned hash.
 */
export async function unpackPackages(
  platform: Platform,
  names: readonly string[],
  pinned: PinnedPackages,
  root: string,
  options: AptOptions,
): Promise<void> {
  for (const name of names) {
    const pin = Object.hasOwn(pinned, name) ? pinned[name] : undefined
    if (pin === undefined) throw new ImageError(`the Debian package ${name} is not pinned; run with --update-base`)
    const file = await downloaded(platform, name, pin, options)
    await mkdir(root, { recursive: true })
    await runProcess('dpkg-deb', ['--extract', file, root], options)
  }
}

/** The newest versions that the sources of this machine offer, with the hashes for all platforms. */
export async function newestPackages(
  platforms: readonly Platform[],
  names: readonly string[],
  options: AptOptions,
): Promise<PinnedPackages> {
  const found = new Map<string, { version: string; sha256: Record<string, string> }>()
  for (const platform of platforms) {
    const apt = await prepareApt(platform, options, true)
    for (const name of names) {
      const shown = await runProcess('apt-cache', [...apt, 'show', '--no-all-versions', name], options)
      const version = field(shown, 'Version')
      const entry = found.get(name) ?? { version, sha256: {} }
      if (entry.version !== version) throw new ImageError(`${name} has different versions for different platforms`)
      entry.sha256[architecture(platform)] = field(shown, 'SHA256')
      found.set(name, entry)
    }
  }
  return Object.fromEntries([...found].toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

function field(shown: string, name: string): string {
  const value = new RegExp(`^${name}: (\\S+)$`, 'm').exec(shown)?.[1]
  if (value === undefined) throw new ImageError(`apt-cache shows no ${name} of a package`)
  return value
}

async function downloaded(
  platform: Platform,
  name: string,
  { version, sha256 }: PinnedPackage,
  options: AptOptions,
): Promise<string> {
  const wanted = sha256[architecture(platform)] ?? ''
  const folder = join(options.folder, 'packages', architecture(platform))
  await mkdir(folder, { recursive: true })
  const find = async () => {
    for (const file of await readdir(folder)) {
      if (!file.startsWith(`${name}_`)) continue
      const path = join(folder, file)
      const digest = createHash('sha256')
        .update(await readFile(path))
        .digest('hex')
      if (digest === wanted) return path
    }
    return undefined
  }
  const present = await find()
  if (present !== undefined) return present
  const apt = await prepareApt(platform, options, false)
  try {
    await runProcess('apt-get', [...apt, 'download', `${name}=${version}`], { ...options, cwd: folder })
  } catch (error) {
    throw new ImageError(
      `version ${version} of the Debian package ${name} cannot be downloaded: build on Debian 12 or in a container of it; ` +
        'if a newer version has replaced it there, run with --update-base and commit base-packages.json',
      { cause: error },
    )
  }
  const file = await find()
  if (file === undefined) throw new ImageError(`the Debian package ${name} ${version} does not have the pinned hash`)
  return file
}

/** Options that give apt its own state; lists of packages are fetched once, or again when `refresh` asks for it. */
async function prepareApt(
  platform: Platform,
  { folder, signal }: AptOptions,
  refresh: boolean,
): Promise<readonly string[]> {
  const state = join(folder, `apt-${architecture(platform)}`)
  await mkdir(join(state, 'lists', 'partial'), { recursive: true })
  await mkdir(join(state, 'archives', 'partial'), { recursive: true })
  await writeFile(join(state, 'status'), '')
  const apt = Object.entries({
    'Dir::State': state,
    'Dir::State::status': join(state, 'status'),
    'Dir::Cache': state,
    'APT::Architecture': architecture(platform),
    'APT::Architectures': architecture(platform),
    'APT::Sandbox::User': 'root',
  }).flatMap(([name, value]) => ['-o', `${name}=${value}`])
  // Compressed or not, as apt is configured.
  const fetched = (await readdir(join(state, 'lists'))).some((name) => /_Packages(\.\w+)?$/.test(name))
  if (refresh || !fetched) await runProcess('apt-get', [...apt, 'update'], { ...(signal && { signal }) })
  return apt
}
