/** Checks packed packages with the tools that the registry's users trust: publint, and "Are the types wrong?". */
import { readFile } from 'node:fs/promises'
import { checkPackage, createPackageFromTarballData, type Problem } from '@arethetypeswrong/core'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import type { PackedPackage } from './pack.ts'

/** The packages are modules only, with subpaths: neither CommonJS nor resolution before `exports` is supported. */
const UNSUPPORTED = new Set(['node10', 'node16-cjs'])

/**
 * A sentence for everything that is wrong with a package.
 *
 * @example
 * const problems = await packageProblems(packed)
 */
export async function packageProblems({ name, folder, archive }: PackedPackage): Promise<readonly string[]> {
  const bytes = await readFile(archive)
  const tarball = new Uint8Array(bytes).buffer
  const { messages } = await publint({ pack: { tarball }, strict: true })
  const manifest = JSON.parse(await readFile(`${folder}/package.json`, 'utf8'))
  return [
    ...messages.map((message) => `${name}: publint: ${formatMessage(message, manifest) ?? message.code}`),
    // A package of commands has none.
    ...(manifest.exports['.'] === undefined ? [] : await typeProblems(name, new Uint8Array(tarball))),
  ]
}

async function typeProblems(name: string, tarball: Uint8Array): Promise<readonly string[]> {
  const { types, ...result } = await checkPackage(createPackageFromTarballData(tarball))
  if (types === false || !('problems' in result)) return [`${name}: has no types`]
  return result.problems.filter(isRelevant).map(typeProblem(name))
}

function isRelevant(problem: Problem): boolean {
  return !('resolutionKind' in problem && UNSUPPORTED.has(problem.resolutionKind))
}

function typeProblem(name: string): (problem: Problem) => string {
  return ({ kind, ...details }) => `${name}: types: ${kind} ${JSON.stringify(details)}`
}
