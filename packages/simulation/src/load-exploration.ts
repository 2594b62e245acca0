/** Loads what a module describes for the exploration. */
import { pathToFileURL } from 'node:url'
import type { Exploration } from './operator-under-test.ts'

/** A module that does not exist, or lacks the export. */
export class ExplorationModuleError extends Error {
  override readonly name = 'ExplorationModuleError'
  readonly code = 'EXPLORATION_MODULE'
}

/** Imports the module and checks that it exports an exploration. */
export async function loadExploration(path: string): Promise<Exploration> {
  const { exploration } = await importModule(path)
  if (exploration?.operator === undefined || exploration.scenario === undefined) {
    throw new ExplorationModuleError(`${path} must export \`exploration: { operator, scenario }\``)
  }
  return exploration
}

async function importModule(path: string): Promise<{ readonly exploration?: Exploration }> {
  try {
    return await import(pathToFileURL(path).href)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new ExplorationModuleError(`${path} cannot be loaded: ${reason}`, { cause: error })
  }
}
