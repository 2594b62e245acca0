/** The files of a new project, made of the template: itself a project, of an operator for Sprockets. */
import { existsSync, globSync } from 'node:fs'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ProjectNames } from './project-names.ts'

const PACKAGE = new URL('../../', import.meta.url)
const TEMPLATE = fileURLToPath(new URL('template/', PACKAGE))

/** A path below the project, and its text. */
export interface ProjectFile {
  readonly path: string
  readonly text: string
}

/** Files that only exist with webhooks. */
const OF_WEBHOOKS = /(?:^|\/)webhooks(?:\.test)?\.(?:ts|yaml)$/

/**
 * The files of a project.
 *
 * @example
 * const files = await projectFiles({ group: 'example.com', kind: 'Shop', plural: 'shops', name: 'shop-operator' })
 */
export async function projectFiles(
  names: ProjectNames,
  { hasWebhooks = false }: { readonly hasWebhooks?: boolean } = {},
): Promise<readonly ProjectFile[]> {
  const { version } = JSON.parse(await readFile(new URL('package.json', PACKAGE), 'utf8'))
  const paths = globSync('**/*.*', { cwd: TEMPLATE }).concat('Dockerfile', '_gitignore', '_dockerignore')
  const files: ProjectFile[] = []
  for (const path of [...new Set(paths)].toSorted()) {
    if (!hasWebhooks && OF_WEBHOOKS.test(path)) continue
    const template = await readFile(join(TEMPLATE, path), 'utf8')
    const text = named(withoutMarks(template, hasWebhooks), names).replaceAll('0.0.0-reeve', version)
    // npm treats some names in a package in its own way; in the template they begin with an underscore.
    const target = path.replace(/^_(package|tsconfig)/, '$1').replace(/^_/, '.')
    files.push({ path: named(target, names), text })
  }
  return files
}

/** The tokens of the template; longer ones first, because they contain shorter ones. */
function named(text: string, { group, kind, plural, name }: ProjectNames): string {
  return text
    .replaceAll('template.example.com', group)
    .replaceAll('sprocket-operator', name)
    .replaceAll('sprockets', plural)
    .replaceAll('Sprocket', kind)
    .replaceAll('sprocket', kind.toLowerCase())
}

/** Removes the marks of what belongs to webhooks, and unless they are wanted also what is between them. */
function withoutMarks(text: string, isKept: boolean): string {
  const marked = /^ *(?:\/\/|#) webhooks:begin\n([\s\S]*?)^ *(?:\/\/|#) webhooks:end\n/gm
  return text.replaceAll(marked, isKept ? '$1' : '')
}

/** A folder that is not empty. */
export class FolderNotEmptyError extends Error {
  override readonly name = 'FolderNotEmptyError'
  readonly code = 'FOLDER_NOT_EMPTY'
}

/**
 * Writes the files.
 *
 * *Guarantees*: nothing that exists is overwritten.
 *
 * *Errors*: {@link FolderNotEmptyError}.
 */
export async function writeProject(folder: string, files: readonly ProjectFile[]): Promise<void> {
  if (existsSync(folder) && (await readdir(folder)).some((name) => name !== '.git')) {
    throw new FolderNotEmptyError(`${folder} is not empty: choose another folder, or empty it first`)
  }
  for (const { path, text } of files) {
    const file = join(folder, path)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, text, { flag: 'wx' })
  }
}
