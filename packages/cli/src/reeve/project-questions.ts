/** Asks for what the options of a new project do not say. */
import { createInterface } from 'node:readline/promises'
import {
  checkGroup,
  checkKind,
  checkName,
  checkPlural,
  nameOf,
  ProjectNameError,
  type ProjectNames,
  pluralOf,
} from './project-names.ts'

/** What the command line says about the project. */
export interface ProjectOptions {
  readonly group?: string
  readonly kind?: string
  readonly plural?: string
  readonly name?: string
  readonly webhooks?: boolean
}

/** Asks one question; without an answer it is the suggestion. */
export type Ask = (question: string, suggestion?: string) => Promise<string>

/** Asks a person, line by line. Disposing ends it. */
export function askOn(input: NodeJS.ReadableStream, output: NodeJS.WritableStream): Disposable & { readonly ask: Ask } {
  const terminal = createInterface({ input, output })
  return {
    ask: async (question, suggestion) => {
      const given = await terminal.question(
        suggestion === undefined ? `${question}: ` : `${question} (${suggestion}): `,
      )
      return given.trim() || (suggestion ?? '')
    },
    [Symbol.dispose]: () => terminal.close(),
  }
}

/**
 * The project, from options and answers.
 *
 * *Errors*: `ProjectNameError` for the first name that cannot be used, before the next question.
 *
 * @param ask absent where there is nobody to ask: options must say what has no default then
 */
export async function readProject(
  { group, kind, plural, name, webhooks }: ProjectOptions,
  ask?: Ask,
): Promise<ProjectNames & { readonly hasWebhooks: boolean }> {
  const missing = [...(group === undefined ? ['--group'] : []), ...(kind === undefined ? ['--kind'] : [])]
  if (ask === undefined && missing.length > 0) {
    throw new ProjectNameError(`${missing.join(' and ')} missing: for example --group shop.example.com --kind Shop`)
  }
  const theGroup = checkGroup(group ?? (await ask?.('API group, such as shop.example.com')) ?? '')
  const theKind = checkKind(kind ?? (await ask?.('Kind, such as Shop')) ?? '')
  const theName = checkName(name ?? (await ask?.('Name of the operator', nameOf(theKind))) ?? nameOf(theKind))
  const thePlural = checkPlural(plural ?? pluralOf(theKind))
  const hasWebhooks = webhooks ?? (await ask?.('Webhooks, yes or no', 'no'))?.startsWith('y') ?? false
  return { group: theGroup, kind: theKind, plural: thePlural, name: theName, hasWebhooks }
}
