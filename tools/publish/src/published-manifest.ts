/** The `package.json` that users get, made of the one that this repository is developed with. */
import type { PackageManifest } from './public-packages.ts'

/** What is not in a package's own `package.json`. */
export interface PublishedManifestOptions {
  /** `owner/name` on GitHub, which provenance statements are compared with. @default none */
  readonly repository?: string
  /** The package's folder in the repository. */
  readonly directory: string
}

/**
 * The oldest Node that the packages run on. `undici` 8 needs it, and `Promise.withResolvers` and `Map.groupBy` came with 22;
 * Node 20 is no longer maintained. From this release on Node also runs the TypeScript of users without a flag.
 */
const OLDEST_NODE = '22.19'

/** Libraries of which we load modules by path: only patches keep those. */
const LOADED_BY_PATH = new Set(['undici'])

/** What only the development of a package needs. */
const DEVELOPMENT_ONLY = new Set(['private', 'devDependencies', 'scripts', 'reeve', 'publishConfig'])

/**
 * Exports point at compiled files instead of sources. Other libraries are accepted from the pinned release on, so that
 * users get their fixes and share one copy; our own packages fit together only in the same version.
 *
 * @example
 * publishedManifest({ name: 'a', version: '1.0.0', exports: { '.': './src/index.ts' } }, { directory: 'packages/a' })
 * // exports['.'] is { types: './lib/index.d.ts', default: './lib/index.js' }
 */
export function publishedManifest(
  manifest: PackageManifest,
  { repository, directory }: PublishedManifestOptions,
): PackageManifest {
  const kept = Object.fromEntries(Object.entries(manifest).filter(([member]) => !DEVELOPMENT_ONLY.has(member)))
  const { exports = {}, bin, dependencies, peerDependencies } = manifest
  return {
    ...kept,
    name: manifest.name,
    version: manifest.version,
    engines: { node: `>=${OLDEST_NODE}` },
    exports: {
      ...Object.fromEntries(Object.entries(exports).map(([subpath, source]) => [subpath, publishedEntry(source)])),
      './package.json': './package.json',
    } as PackageManifest['exports'] & {}, // conditions are objects, which sources never need
    ...(bin && { bin: mapValues(bin, compiledFile) }),
    ...(dependencies && { dependencies: publishedRanges(dependencies) }),
    ...(peerDependencies && { peerDependencies: publishedRanges(peerDependencies) }),
    ...(repository !== undefined && {
      repository: { type: 'git', url: `git+https://github.com/${repository}.git`, directory },
      homepage: `https://github.com/${repository}/tree/main/${directory}#readme`,
      bugs: `https://github.com/${repository}/issues`,
    }),
  }
}

/** Path of what a source file is compiled to; other files are published as they are. */
function compiledFile(source: string): string {
  return source.replace(/^\.\/src\/(.*)\.ts$/, './lib/$1.js')
}

function publishedEntry(source: string): unknown {
  const compiled = compiledFile(source)
  if (compiled === source) return source
  return { types: compiled.replace(/\.js$/, '.d.ts'), default: compiled }
}

function publishedRanges(ranges: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return mapValues(ranges, (range, name) => {
    if (name.startsWith('@reeve/') || !/^\d/.test(range)) return range
    return `${LOADED_BY_PATH.has(name) ? '~' : '^'}${range}`
  })
}

function mapValues(
  values: Readonly<Record<string, string>>,
  map: (value: string, name: string) => string,
): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value, name)]))
}
