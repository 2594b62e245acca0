/** Reads the files of the replicated Secrets. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { INPUT_FILES } from '../injection-contract/input-files.ts'

/** The name of a file below the input directory. */
type InputFile = (typeof INPUT_FILES)[keyof typeof INPUT_FILES]

/**
 * The content of a file, or `undefined` if the Secret has no such key.
 *
 * @example
 * const trusted = readInput('/mnt/input', INPUT_FILES.trustedCertificates)
 */
export function readInput(directory: string, name: InputFile): string | undefined {
  try {
    return readFileSync(join(directory, name), 'utf8')
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

/** Whether an error says that a file does not exist. */
export function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}
