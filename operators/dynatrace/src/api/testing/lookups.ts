/** A cluster as rules see it, for tests. */
import { ConnectionError } from '@reeve/kube'
import { IgnoredNamespacePatterns } from '../ignored-namespaces.ts'
import type { DynaKube } from '../latest.ts'
import { ALL_MODULES, type Modules } from '../validation/modules.ts'
import type { Lookups } from '../validation/rule.ts'

/** What a test may say about the cluster. */
export interface LookupParts {
  readonly modules?: Partial<Modules>
  readonly dynakubes?: readonly DynaKube[]
  readonly namespaces?: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly secrets?: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly hasIstio?: boolean
}

/** Look-ups in a fake cluster. */
export function lookups(parts: LookupParts = {}): Lookups {
  const { modules, dynakubes = [], namespaces = {}, secrets = {}, hasIstio = false } = parts
  return {
    modules: { ...ALL_MODULES, ...modules },
    ignoredNamespaces: new IgnoredNamespacePatterns(),
    readSecret: async (name) => secrets[name],
    listDynaKubes: async () => dynakubes,
    listNamespaces: async () => Object.entries(namespaces).map(([name, labels]) => ({ name, labels })),
    hasIstio: async () => hasIstio,
  }
}

/** Look-ups in a cluster that does not respond. */
export function unreachable(): Lookups {
  const fail = () => Promise.reject(new ConnectionError('connection refused', 'connect'))
  return {
    modules: ALL_MODULES,
    ignoredNamespaces: new IgnoredNamespacePatterns(),
    readSecret: fail,
    listDynaKubes: fail,
    listNamespaces: fail,
    hasIstio: fail,
  }
}
