/** Which files import which, as far as the code that runs in production is concerned. */
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, sep } from 'node:path'

/** One import. */
export interface Import {
  /** Path of the importing file, from the root of the repository. */
  readonly from: string
  /** Path of a file, or the name of a package. */
  readonly to: string
}

const SOURCES = ['packages/*/src/**/*.ts', 'operators/*/src/**/*.ts']
/** Tests may import anything. */
const FOR_TESTS = /\.test\.ts$|\/testing\//

// The formatter writes every specifier on the line of its `from` or `import`.
const SPECIFIER = /^(?:import|export)\b[^'"]*?from '([^']+)'|^import '([^']+)'|\bimport\('([^']+)'\)/gm

/**
 * The imports of all packages and operators below `root`, types included, tests left out.
 *
 * @example
 * readImports('/repo') // [{ from: 'packages/kube/src/connect.ts', to: 'packages/kube/src/create-client.ts' }, …]
 */
export function readImports(root: string): readonly Import[] {
  const files = globSync(SOURCES, { cwd: root }).filter((file) => !FOR_TESTS.test(file))
  return files.flatMap((file) => importsOf(file, readFileSync(join(root, file), 'utf8')))
}

/** The imports of one file. */
export function importsOf(from: string, text: string): readonly Import[] {
  // Examples in comments import as well; every line of such a comment begins with a star.
  const code = text.replaceAll(/^\s*\*.*$/gm, '')
  return [...code.matchAll(SPECIFIER)].map(([, exported, plain, dynamic]) => {
    const specifier = exported ?? plain ?? dynamic ?? ''
    const to = specifier.startsWith('.') ? normalize(join(dirname(from), specifier)).replaceAll(sep, '/') : specifier
    return { from, to }
  })
}
