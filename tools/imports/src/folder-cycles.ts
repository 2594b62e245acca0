/** Finds folders that import each other in a circle: neither can be understood, tested or moved without the other. */
import type { Import } from './import-graph.ts'

/**
 * The circles among folders side by side, each as its folders in order; a folder and what it contains may import each
 * other.
 *
 * @example
 * folderCycles([{ from: 'src/a/x.ts', to: 'src/b/y.ts' }, { from: 'src/b/y.ts', to: 'src/a/z.ts' }])
 * // [['src/a', 'src/b']]
 */
export function folderCycles(imports: readonly Import[]): readonly (readonly string[])[] {
  const edges = new Map<string, Set<string>>()
  for (const { from, to } of imports) {
    const [importer, imported] = siblings(from.split('/'), to.split('/'))
    if (importer === undefined || imported === undefined) continue
    edges.set(importer, (edges.get(importer) ?? new Set()).add(imported))
  }
  const found = new Map<string, readonly string[]>()
  for (const start of edges.keys()) {
    const circle = [...reachable(start, edges)].filter((folder) => reachable(folder, edges).has(start)).toSorted()
    if (circle.length > 1) found.set(circle.join(), circle)
  }
  return [...found.values()]
}

/** The two folders below the last common one; none when one of the files lies directly in that. */
function siblings(from: readonly string[], to: readonly string[]): readonly string[] {
  const common = from.findIndex((part, depth) => part !== to[depth])
  if (common < 0 || common >= from.length - 1 || common >= to.length - 1) return []
  return [from.slice(0, common + 1).join('/'), to.slice(0, common + 1).join('/')]
}

function reachable(start: string, edges: ReadonlyMap<string, ReadonlySet<string>>): ReadonlySet<string> {
  const seen = new Set<string>()
  const waiting = [...(edges.get(start) ?? [])]
  while (waiting.length > 0) {
    const next = waiting.pop()
    if (next === undefined || seen.has(next)) continue
    seen.add(next)
    waiting.push(...(edges.get(next) ?? []))
  }
  return seen
}

/** Whether all folders of a circle belong to another one. */
export function isWithin(cycle: readonly string[], known: readonly string[]): boolean {
  return cycle.every((folder) => known.includes(folder))
}
