/** `npm run image -- <operator>`: builds the image of an operator without a container engine. */
import { readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Argument, Command, CommanderError } from 'commander'
import { BASE_PACKAGES } from './base-root.ts'
import { buildImage } from './build-image.ts'
import { type ColdStart, measureColdStart } from './cold-start.ts'
import { newestPackages, type PinnedPackages } from './debian-packages.ts'
import { defaultTag, imageDefinition, localReference, OPERATORS } from './image-definitions.ts'
import { ImageError } from './image-error.ts'
import { PLATFORMS, parsePlatforms } from './platform.ts'

const REPOSITORY = fileURLToPath(new URL('../../..', import.meta.url)).replace(/\/$/, '')
const PINNED = fileURLToPath(new URL('../base-packages.json', import.meta.url))
const EXIT_FAILED = 1
const EXIT_USAGE = 64
const EXIT_INTERRUPTED = 130
const MIB = 1024 * 1024

interface ImageOptions {
  readonly platform: string
  readonly output: string
  readonly tag?: string
  readonly json: boolean
  readonly updateBase: boolean
}

const interrupted = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort())

const command = new Command('npm run image --')
  .description('Builds the image of an operator without a container engine, as an OCI layout and an archive of it.')
  .addArgument(new Argument('<operator>', 'which operator').choices(OPERATORS))
  .option('--platform <list>', 'platforms, separated by commas', PLATFORMS.join(','))
  .option('--output <folder>', 'where to write the image', 'dist/images')
  .option('--tag <tag>', 'tag of the image (default: the version of the operator)')
  .option('--json', 'print the result as JSON', false)
  .option('--update-base', 'pin the newest Debian packages in base-packages.json first', false)
  .addHelpText(
    'after',
    `
Needs npm, and apt-get and dpkg-deb with the package sources of Debian 12. The Collector's image for another architecture
needs Go, and minutes to compile helm the first time.
SOURCE_DATE_EPOCH sets the time that the image and its files bear (default: 0).

Examples:
  npm run image -- webapp
  npm run image -- dynatrace --platform linux/arm64 --tag nightly
  ctr -n k8s.io images import dist/images/webapp-operator.tar
  skopeo copy --all oci-archive:dist/images/webapp-operator.tar docker://registry.example.com/webapp-operator:0.1.0

Exits 0 when the image is written, 1 when it cannot be built, 64 for wrong usage, 130 when interrupted.`,
  )
  .exitOverride()
  .action(run)

try {
  await command.parseAsync()
} catch (error) {
  process.exitCode = exitCodeFor(error)
}

function exitCodeFor(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_USAGE
  if (interrupted.signal.aborted) return EXIT_INTERRUPTED
  if (!(error instanceof ImageError)) throw error
  process.stderr.write(`image: ${error.message}\n`)
  return EXIT_FAILED
}

async function run(operator: string, options: ImageOptions): Promise<void> {
  const definition = imageDefinition(operator)
  const platforms = parsePlatforms(options.platform)
  const { version } = await readJson<{ readonly version: string }>(
    join(REPOSITORY, definition.workspace, 'package.json'),
  )
  if (options.updateBase) await updateBase()
  const reference = localReference(definition, options.tag ?? defaultTag(definition, version))
  const built = await buildImage({
    definition,
    platforms,
    repository: REPOSITORY,
    output: resolve(REPOSITORY, options.output),
    reference,
    version: options.tag ?? version,
    createdAt: Number(process.env.SOURCE_DATE_EPOCH ?? 0),
    packages: await readJson<PinnedPackages>(PINNED),
    onStep: (step) => process.stderr.write(`image: ${step}\n`),
    signal: interrupted.signal,
  })
  const coldStart = await measureColdStart(built.archive, definition)
  const result = { image: reference, ...built, coldStart }
  process.stdout.write(options.json ? `${JSON.stringify(result, undefined, 2)}\n` : described(result))
}

function described(result: Awaited<ReturnType<typeof buildImage>> & { image: string; coldStart: ColdStart }): string {
  const rows = [
    ['image', result.image],
    ['digest', result.digest],
    ['archive', result.archive],
    ['sbom', result.sbom],
    ...Object.entries(result.pulledBytes).map(([platform, bytes]) => [
      platform,
      `${(bytes / MIB).toFixed(1)} MiB pulled`,
    ]),
    [
      'cold start',
      'skipped' in result.coldStart
        ? `not measured: ${result.coldStart.skipped}`
        : `${result.coldStart.versionMs} ms to print its version`,
    ],
  ]
  const width = Math.max(...rows.map(([name = '']) => name.length))
  return rows.map(([name = '', value]) => `${name.padEnd(width)}  ${value}\n`).join('')
}

async function updateBase(): Promise<void> {
  const names = [...new Set([...BASE_PACKAGES, ...OPERATORS.flatMap((each) => imageDefinition(each).debianPackages)])]
  const folder = join(REPOSITORY, '.reeve/image')
  const packages = await newestPackages(PLATFORMS, names, { folder, signal: interrupted.signal })
  await writeFile(PINNED, `${JSON.stringify(packages, undefined, 2)}\n`)
}

/** Reads a file of this repository, whose shape is known. */
async function readJson<Value>(path: string): Promise<Value> {
  return JSON.parse(await readFile(path, 'utf8')) as Value
}
