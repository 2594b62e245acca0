/** What lies in directories, read again only after it changed: a state is compared after each of thousands of changes. */
import { lstatSync, readdirSync, readlinkSync } from 'node:fs'
import { join, relative } from 'node:path'

/** What is in a directory: `path mode size`, `path/ mode` for directories, `path -> target` for links. */
export type Listing = readonly string[]

/** Listings of directories below a root. */
export class Listings {
  readonly #root: string
  readonly #known = new Map<string, Listing>()

  constructor(root: string) {
    this.#root = root
  }

  /** Everything in a directory, or a file. */
  of(path: string): Listing {
    const known = this.#known.get(path)
    if (known !== undefined) return known
    const found = listing(path, this.#root)
    this.#known.set(path, found)
    return found
  }

  /** Forgets the listings of directories that a path is in. */
  forget(path: string): void {
    for (const known of this.#known.keys()) {
      if (`${path}/`.startsWith(`${known}/`) || known.startsWith(`${path}/`)) this.#known.delete(known)
    }
  }
}

/** The names in a directory, in order; none if there is no directory. */
export function namesIn(path: string): readonly string[] {
  try {
    return readdirSync(path).sort()
  } catch {
    // There is none.
    return []
  }
}

/** Targets of links below `root` are relative to it. */
function listing(path: string, root: string, shown = ''): Listing {
  const status = lstatSync(path)
  if (status.isSymbolicLink()) {
    const target = readlinkSync(path)
    return [`${shown} -> ${target.startsWith(root) ? relative(root, target) : target}`]
  }
  const mode = (status.mode & 0o777).toString(8)
  if (!status.isDirectory()) return [`${shown} ${mode} ${status.size}`]
  const inside = namesIn(path).flatMap((name) => listing(join(path, name), root, join(shown, name)))
  return [...(shown === '' ? [] : [`${shown}/ ${mode}`]), ...inside]
}
