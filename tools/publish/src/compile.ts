/** Compiles one package: JavaScript, declarations and source maps, of the files that its entry points reach. */
import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'
import { type PackageManifest, type PublicPackage, REPOSITORY } from './public-packages.ts'

const run = promisify(execFile)

/** Where packages are built, below their folder: what `publishConfig.directory` names. */
export const OUTPUT = 'dist'

/**
 * Compiles the package into `dist/lib`. The packages it needs must be compiled: it is checked against their declarations,
 * as the code of users is.
 *
 * *Errors*: what the compiler reports.
 */
export async function compile(one: PublicPackage, compiled: readonly PublicPackage[]): Promise<void> {
  const folder = join(REPOSITORY, 'node_modules', '.cache', 'publish', one.manifest.name)
  await mkdir(folder, { recursive: true })
  const config = join(folder, 'tsconfig.json')
  await writeFile(config, JSON.stringify(configuration(one, compiled), undefined, 2))
  try {
    await run(process.execPath, [join(REPOSITORY, 'node_modules', 'typescript', 'bin', 'tsc'), '--project', config], {
      cwd: REPOSITORY,
    })
  } catch (error) {
    const { stdout } = error as { readonly stdout?: string } // of execFile
    throw new Error(`cannot compile ${one.manifest.name}:\n${stdout ?? ''}`, { cause: error })
  }
}

function configuration({ folder, manifest }: PublicPackage, compiled: readonly PublicPackage[]): object {
  const paths = compiled.flatMap(({ folder: needed, manifest: { name, exports = {} } }) =>
    Object.entries(exports).map(([subpath, source]) => [
      join(name, subpath),
      [join(needed, OUTPUT, 'lib', declarationOf(source))],
    ]),
  )
  return {
    extends: join(REPOSITORY, 'tsconfig.json'),
    compilerOptions: {
      noEmit: false,
      // All that Node 22 knows; `using` is newer.
      target: 'es2024',
      rootDir: join(folder, 'src'),
      outDir: join(folder, OUTPUT, 'lib'),
      declaration: true,
      sourceMap: true,
      // Sources are in the maps, so that they need not be published beside them.
      inlineSources: true,
      rewriteRelativeImportExtensions: true,
      typeRoots: [join(REPOSITORY, 'node_modules', '@types')],
      paths: Object.fromEntries(paths),
    },
    files: entryPoints(folder, manifest),
    // Types of modules that have none.
    include: [join(folder, 'src/**/*.d.ts')],
    exclude: [],
  }
}

/** The sources that somebody can start from, in this or another process. */
function entryPoints(folder: string, { exports = {}, bin = {}, reeve = {} }: PackageManifest): readonly string[] {
  return [...Object.values(exports), ...Object.values(bin), ...(reeve.entries ?? [])]
    .filter((path) => path.startsWith('./src/'))
    .map((path) => join(folder, path))
}

function declarationOf(source: string): string {
  return relative('src', source).replace(/\.ts$/, '.d.ts')
}
