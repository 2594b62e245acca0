/** Finds the packages that are published: every workspace that is not private. */
import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The root of this repository. */
export const REPOSITORY = fileURLToPath(new URL('../../..', import.meta.url)).replace(/\/$/, '')

/** The members of a `package.json` that decide what is published. */
export interface PackageManifest {
  readonly name: string
  readonly version: string
  readonly private?: boolean
  readonly workspaces?: readonly string[]
  /** Subpaths, and the source files that they stand for. */
  readonly exports?: Readonly<Record<string, string>>
  readonly bin?: Readonly<Record<string, string>>
  readonly files?: readonly string[]
  readonly scripts?: Readonly<Record<string, string>>
  /** `entries`: sources that are loaded by path, and so are not found by their imports. */
  readonly reeve?: { readonly entries?: readonly string[] }
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly [member: string]: unknown
}

/** A package that is published. */
export interface PublicPackage {
  /** Absolute path of its folder. */
  readonly folder: string
  readonly manifest: PackageManifest
}

/**
 * The public packages of a repository, each after those that it depends on.
 *
 * *Errors*: when a public package depends on a private one, which nobody could install.
 *
 * @example
 * const names = (await publicPackages()).map(({ manifest }) => manifest.name)
 */
export async function publicPackages(root: string = REPOSITORY): Promise<readonly PublicPackage[]> {
  const { workspaces = [] } = await readManifest(root)
  const folders = globSync(
    workspaces.map((pattern) => `${pattern}/package.json`),
    { cwd: root },
  ).map((path) => join(root, dirname(path)))
  const all = await Promise.all(
    folders.toSorted().map(async (folder) => ({ folder, manifest: await readManifest(folder) })),
  )
  return inOrder(all)
}

async function readManifest(folder: string): Promise<PackageManifest> {
  return JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
}

function inOrder(all: readonly PublicPackage[]): readonly PublicPackage[] {
  const byName = new Map(all.map((one) => [one.manifest.name, one]))
  const ordered = new Set<PublicPackage>()
  const add = (one: PublicPackage, dependent?: string) => {
    if (one.manifest.private === true) {
      throw new Error(`${dependent} is public and depends on ${one.manifest.name}, which is private`)
    }
    for (const name of neededPackages(one.manifest)) {
      const needed = byName.get(name)
      if (needed !== undefined && !ordered.has(needed)) add(needed, one.manifest.name)
    }
    ordered.add(one)
  }
  for (const one of all) if (one.manifest.private !== true) add(one)
  return [...ordered]
}

/** The names of the packages that users of this one need. */
function neededPackages({ dependencies, peerDependencies }: PackageManifest): readonly string[] {
  return Object.keys({ ...dependencies, ...peerDependencies })
}
