/** What `npm ci` installs must be what was reviewed, from any registry. */
import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'

interface LockedPackage {
  readonly version?: string
  readonly resolved?: string
  readonly integrity?: string
  /** A workspace under its name. */
  readonly link?: boolean
  /** Shipped inside the archive of the package whose folder it stands in. */
  readonly inBundle?: boolean
}

const lock: { readonly packages: Readonly<Record<string, LockedPackage>> } = JSON.parse(
  await readFile(new URL('../../../package-lock.json', import.meta.url), 'utf8'),
)
const installed = Object.entries(lock.packages).filter(([path, { link }]) => path.includes('node_modules/') && !link)

/** The package in whose `node_modules` a path lies; `undefined` at the top. */
function parentOf(path: string): string | undefined {
  const end = path.lastIndexOf('/node_modules/')
  return end === -1 ? undefined : path.slice(0, end)
}

/** The package whose archive contains the package at `path`. */
function archiveOf(path: string): LockedPackage | undefined {
  const entry = lock.packages[path]
  const parent = parentOf(path)
  return entry?.inBundle && parent !== undefined ? archiveOf(parent) : entry
}

describe('the lock file', () => {
  it('pins every archive by a SHA-512 hash', () => {
    const loose = installed.filter(([path]) => !archiveOf(path)?.integrity?.startsWith('sha512-'))
    expect(loose.map(([path]) => path)).toEqual([])
  })

  it('has no hash only for what comes inside the archive of another package', () => {
    const without = installed.filter(([, { integrity }]) => integrity === undefined)
    expect(without.filter(([, { inBundle }]) => !inBundle)).toEqual([])
  })

  it('names no host to download from', () => {
    expect(installed.filter(([, { resolved }]) => resolved !== undefined)).toEqual([])
    const others = Object.values(lock.packages).filter(({ link, resolved }) => !link && resolved !== undefined)
    expect(others).toEqual([])
  })
})
