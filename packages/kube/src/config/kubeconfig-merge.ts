/** Merges several kubeconfig files, as with `KUBECONFIG=a:b`. */

import { readFile } from 'node:fs/promises'
import { codeOf } from '@reeve/http'
import { ConfigError } from '../errors.ts'
import { type Kubeconfig, parseKubeconfig } from './kubeconfig-document.ts'

/**
 * Reads and merges files: the first file that defines a cluster, user, context or current context wins. Files that do
 * not exist are skipped when `isOptional`; then the result may be `undefined`.
 */
export async function readKubeconfigs(
  files: readonly string[],
  options: { readonly isOptional: boolean },
): Promise<Kubeconfig | undefined> {
  const found: Kubeconfig[] = []
  for (const file of files) {
    const text = await readIfPresent(file, options.isOptional)
    if (text !== undefined) found.push(await parseKubeconfig(text, file))
  }
  return found.length === 0 ? undefined : mergeKubeconfigs(found)
}

/** Merges parsed files; earlier ones take precedence. */
export function mergeKubeconfigs(configs: readonly Kubeconfig[]): Kubeconfig {
  return {
    files: configs.flatMap((config) => config.files),
    currentContext: configs.find((config) => config.currentContext !== undefined)?.currentContext,
    clusters: firstWins(configs.map((config) => config.clusters)),
    users: firstWins(configs.map((config) => config.users)),
    contexts: firstWins(configs.map((config) => config.contexts)),
  }
}

function firstWins<V>(maps: readonly ReadonlyMap<string, V>[]): ReadonlyMap<string, V> {
  return new Map(maps.toReversed().flatMap((map) => [...map]))
}

async function readIfPresent(file: string, isOptional: boolean): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    const code = codeOf(error) ?? 'unknown error'
    if (isOptional && code === 'ENOENT') return undefined
    throw new ConfigError(`${file}: cannot read the kubeconfig (${code})`, { cause: error })
  }
}
