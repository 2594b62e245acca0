/** Look-ups of admission rules without a cluster: objects in the files are known, others are not. */
import type { KubeObject } from '@reeve/kube'
import type { NamespaceLabels } from '../api/dynakube/namespace-claims.ts'
import type { IgnoredNamespacePatterns } from '../api/ignored-namespaces.ts'
import type { DynaKube } from '../api/latest.ts'
import type { Modules } from '../api/validation/modules.ts'
import type { Lookups } from '../api/validation/rule.ts'

/** What the files say about the cluster that they will be applied to. */
export interface KnownObjects {
  readonly modules: Modules
  readonly ignoredNamespaces: IgnoredNamespacePatterns
  /** In the stored version. */
  readonly dynakubes: readonly DynaKube[]
  /** Objects of other kinds. */
  readonly others: readonly KubeObject[]
}

/** A rule that could not be checked as in a cluster. */
export interface Doubt {
  readonly rule: string
  /** Whether it was checked at all: against what the files hold. */
  readonly isChecked: boolean
  /** A sentence on what was missing. */
  readonly message: string
}

/** Look-ups for one object, and the rules that could not be checked. */
export class OfflineLookups {
  readonly #known: KnownObjects
  readonly #namespace: string
  readonly #doubts = new Map<string, Doubt>()

  constructor(known: KnownObjects, namespace: string) {
    this.#known = known
    this.#namespace = namespace
  }

  /** In the order of the rules. */
  get doubts(): readonly Doubt[] {
    return [...this.#doubts.values()]
  }

  /** The look-ups of one rule. */
  for(rule: string): Lookups {
    return {
      modules: this.#known.modules,
      ignoredNamespaces: this.#known.ignoredNamespaces,
      readSecret: async (name) => this.#secret(name) ?? this.#unknown(rule, `there is no Secret ${name} in the files`),
      hasIstio: async () => this.#unknown(rule, 'whether Istio is installed is known in a cluster only'),
      listDynaKubes: async () => {
        this.#partly(rule, 'DynaKubes')
        return this.#known.dynakubes.filter(({ metadata }) => (metadata.namespace ?? '') === this.#namespace)
      },
      listNamespaces: async () => {
        this.#partly(rule, 'Namespaces and DynaKubes')
        return this.#known.others.filter(isNamespace).map(namespaceLabels)
      },
    }
  }

  #secret(name: string): Readonly<Record<string, string>> | undefined {
    const secret = this.#known.others.find(
      ({ apiVersion, kind, metadata }) =>
        apiVersion === 'v1' &&
        kind === 'Secret' &&
        metadata.name === name &&
        (metadata.namespace ?? '') === this.#namespace,
    )
    // Read member by member below: files may hold anything.
    const { data, stringData } = (secret ?? {}) as Readonly<Record<'data' | 'stringData', unknown>>
    const decoded = textEntries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()] as const)
    return secret && Object.fromEntries([...decoded, ...textEntries(stringData)])
  }

  #unknown(rule: string, why: string): never {
    this.#doubts.set(rule, { rule, isChecked: false, message: `${rule} was not checked: ${why}` })
    throw new Error(why)
  }

  #partly(rule: string, kinds: string): void {
    const message = `${rule} was checked against the ${kinds} in the files only`
    if (!this.#doubts.has(rule)) this.#doubts.set(rule, { rule, isChecked: true, message })
  }
}

const isNamespace = ({ apiVersion, kind }: KubeObject): boolean => apiVersion === 'v1' && kind === 'Namespace'

function namespaceLabels({ metadata: { name = '', labels } }: KubeObject): NamespaceLabels {
  // The API server gives every namespace this label.
  return { name, labels: { ...Object.fromEntries(textEntries(labels)), 'kubernetes.io/metadata.name': name } }
}

function textEntries(map: unknown): readonly (readonly [string, string])[] {
  const entries = typeof map === 'object' && map !== null ? Object.entries(map) : []
  return entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string')
}
