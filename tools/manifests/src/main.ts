/** `npm run manifests -- <operator>`: writes manifests for users of kubectl and kustomize from the chart. */
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findClientBinary } from '@reeve/client-binaries'
import { Argument, Command, CommanderError } from 'commander'
import { parse } from 'yaml'
import type { OutputFile } from './kustomize-base.ts'
import { ManifestsError } from './manifests-error.ts'
import { isValues, type Values } from './merge-values.ts'
import { type FilesOptions, operatorFiles } from './operator-files.ts'
import { OPERATOR_NAMES } from './variants.ts'

const REPOSITORY = fileURLToPath(new URL('../../..', import.meta.url)).replace(/\/$/, '')
const EXIT_FAILED = 1
const EXIT_USAGE = 64

interface ManifestsOptions extends Omit<FilesOptions, 'helm' | 'values' | 'only'> {
  readonly output: string
  readonly values?: string
}

const command = new Command('npm run manifests --')
  .description('Writes manifests for kubectl and bases for kustomize from the chart of an operator.')
  .addArgument(new Argument('<operator>', 'which operator').choices(OPERATOR_NAMES))
  .option('--output <folder>', 'where to write the files', 'dist/manifests')
  .option('--namespace <name>', 'namespace of the operator (default: webapp, collector or dynatrace)')
  .option('--image-repository <name>', 'where you pushed the image (default: nodes must already have it)')
  .option('--image-tag <tag>', 'tag of the image (default: the version of the chart)')
  .option('--values <file>', 'further values of the chart, as YAML')
  .addHelpText(
    'after',
    `
Replaces <folder>/<operator>. Needs helm, which npm installs on linux/amd64; elsewhere it must be on your PATH.

Examples:
  npm run manifests -- webapp --image-repository registry.example.com/webapp-operator
  kubectl create namespace webapp
  kubectl apply --server-side -f dist/manifests/webapp/kubernetes.yaml

Exits 0 when the files are written, 1 when they cannot be written, 64 for wrong usage.`,
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
  if (!(error instanceof ManifestsError)) throw error
  process.stderr.write(`manifests: ${error.message}\n`)
  return EXIT_FAILED
}

async function run(operator: string, { output, values: file, ...options }: ManifestsOptions): Promise<void> {
  const helm = await findClientBinary('helm')
  if (helm === undefined) throw new ManifestsError('helm is not installed: put it on your PATH or set HELM_BIN')
  const values = file === undefined ? {} : await readValues(file)
  const files = await operatorFiles(operator, { helm, ...options, values }).catch((error: Error) => {
    throw new ManifestsError(error.message, { cause: error })
  })
  const folder = resolve(REPOSITORY, output, operator)
  await replaceFolder(folder, files)
  for (const { path } of files) process.stdout.write(`${join(output, operator, path)}\n`)
}

async function readValues(file: string): Promise<Values> {
  const text = await readFile(resolve(REPOSITORY, file), 'utf8').catch((error: Error) => {
    throw new ManifestsError(`cannot read --values: ${error.message}`, { cause: error })
  })
  const values: unknown = parse(text)
  if (!isValues(values)) throw new ManifestsError(`${file} has no values: it must be a YAML object`)
  return values
}

/** Nobody finds a part of the files. */
async function replaceFolder(folder: string, files: readonly OutputFile[]): Promise<void> {
  const partial = `${folder}.partial`
  await rm(partial, { recursive: true, force: true })
  for (const { path, content } of files) {
    await mkdir(dirname(join(partial, path)), { recursive: true })
    await writeFile(join(partial, path), content)
  }
  await rm(folder, { recursive: true, force: true })
  await rename(partial, folder)
}
