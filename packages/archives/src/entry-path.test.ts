import { posix } from 'node:path'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ArchiveUnsafeError } from './archive-error.ts'
import { entryPath } from './entry-path.ts'
import { staysInside } from './link-target.ts'

const segment = fc.constantFrom('..', '.', '', 'a', 'b', 'd', '...')

it('paths of entries stay below the folder', () => {
  fc.assert(
    fc.property(fc.array(segment, { maxLength: 8 }), (segments) => {
      let path: string
      try {
        path = entryPath(segments.join('/'))
      } catch (error) {
        expect(error).toBeInstanceOf(ArchiveUnsafeError)
        return
      }
      expect(posix.normalize(`/root/${path}`).startsWith('/root/')).toBe(true)
      expect(path).toBe(path === '' ? '' : posix.normalize(path))
    }),
  )
})

it('links in paths of entries are followed as a file system does', () => {
  // Against a model that walks with real `..` semantics over a small tree of links.
  const links = fc.dictionary(
    fc.constantFrom('a', 'b', 'd/a', 'd/b'),
    fc.array(segment, { minLength: 1, maxLength: 5 }),
  )
  fc.assert(
    fc.property(links, (record) => {
      const all = new Map(Object.entries(record).map(([path, target]) => [path, target.join('/')]))
      for (const path of all.keys()) {
        if (staysInside(path, all)) expect(walk(path, all)).not.toBe('outside')
      }
    }),
  )
})

/** Resolves a path as the kernel does: expand the first link found, append the rest to its target, start over. */
function walk(path: string, links: ReadonlyMap<string, string>): 'inside' | 'outside' {
  let todo = path.split('/')
  let at: string[] = []
  for (let steps = 0; steps < 200 && todo.length > 0; steps++) {
    const [segment = '', ...rest] = todo
    todo = rest
    if (segment === '' || segment === '.') continue
    if (segment === '..') {
      if (at.length === 0) return 'outside'
      at = at.slice(0, -1)
      continue
    }
    const link = links.get([...at, segment].join('/'))
    if (link === undefined) at = [...at, segment]
    else if (link.startsWith('/')) return 'outside'
    else todo = [...link.split('/'), ...todo]
  }
  return 'inside'
}
