/** What `npm ci` installs must be what was reviewed, from any registry. */
import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'

interface LockedPackage {
  readonly resolved?: string
  readonly integrity?: string
  /** A workspace under its name. */
  readonly link?: boolean
}

const lock: { readonly packages: Readonly<Record<string, LockedPackage>> } = JSON.parse(
  await readFile(new URL('../../../package-lock.json', import.meta.url), 'utf8'),
)
const installed = Object.entries(lock.packages).filter(([path, { link }]) => path.includes('node_modules/') && !link)

describe('the lock file', () => {
  it('pins every archive by a SHA-512 hash', () => {
    const loose = installed.filter(([, { integrity }]) => !integrity?.startsWith('sha512-'))
    expect(loose.map(([path]) => path)).toEqual([])
  })

  it('names no host to download from', () => {
    expect(installed.filter(([, { resolved }]) => resolved !== undefined)).toEqual([])
    const others = Object.values(lock.packages).filter(({ link, resolved }) => !link && resolved !== undefined)
    expect(others).toEqual([])
  })
})
