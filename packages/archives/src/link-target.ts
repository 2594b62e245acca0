/** Decides whether symbolic links stay inside a folder, also when they lead over each other. */
import { posix } from 'node:path'

/** As Linux: a chain longer than this is a loop. */
const MAX_STEPS = 40

/**
 * Whether following the link at `path` stays below the folder, step by step through all other `links`. Reading the
 * target as text is not enough: `a -> .` and `b -> a/..` leave the folder although neither does by itself.
 *
 * @param links targets by path, all links that the folder will have
 *
 * @example
 * staysInside('bin/current', new Map([['bin/current', '1.2.3']])) // true
 */
export function staysInside(path: string, links: ReadonlyMap<string, string>): boolean {
  let steps = 0
  const follow = (from: readonly string[], target: string): readonly string[] | undefined => {
    if (++steps > MAX_STEPS || posix.isAbsolute(target) || target.includes('\0')) return undefined
    let at: readonly string[] | undefined = from
    for (const segment of target.split('/')) {
      if (at === undefined) return undefined
      if (segment === '' || segment === '.') continue
      if (segment === '..') {
        // The folder itself is as far up as it goes.
        at = at.length === 0 ? undefined : at.slice(0, -1)
        continue
      }
      const next: readonly string[] = [...at, segment]
      const link = links.get(next.join('/'))
      at = link === undefined ? next : follow(at, link)
    }
    return at
  }
  const target = links.get(path)
  if (target === undefined || target === '') return false
  return follow(path.split('/').slice(0, -1), target) !== undefined
}
