/** Loads what a module describes for the exploration. */
import { pathToFileURL } from 'node:url'
import type { Exploration } from './operator-under-test.ts'

/** A module that does not export what it should. */
export class ExplorationModuleError extends Error {
  override readonly name = 'ExplorationModuleError'
  readonly code = 'EXPLORATION_MODULE'
}

/** Imports the module and checks that it exports an exploration. */
export async function loadExploration(path: string): Promise<Exploration> {
  const module = (await import(pathToFileURL(path).href)) as { readonly exploration?: Exploration }
  if (module.exploration?.operator === undefined || module.exploration.scenario === undefined) {
    throw new ExplorationModuleError(`${path} must export \`exploration: { operator, scenario }\``)
  }
  return module.exploration
}
