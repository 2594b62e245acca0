/** Namespaces of a DynaKube: their label, and the Secrets that are copied into them. */
import { Namespaces, type ObjectKey, type Secret, Secrets } from '@reeve/kube'
import { type CacheReader, type DesiredObject, desired } from '@reeve/runtime'
import type { OwnedElsewhere } from '@reeve/runtime/engine'
import { FIXED_NAMES } from '../../../../api/dynakube/names.ts'
import { changesPods, type NamespaceLabels } from '../../../../api/dynakube/namespace-claims.ts'
import type { IgnoredNamespacePatterns } from '../../../../api/ignored-namespaces.ts'
import { type DynaKube, DynaKubes } from '../../../../api/latest.ts'
import { CREATED_BY } from '../../../rendering/labels.ts'
import { INSTANCE_LABEL, instancesOf } from './map-namespaces.ts'
import { copiesOf } from './source-secret.ts'

/** Signals to the namespace webhook that this change needs no mapping; the webhook removes it. */
export const MAPPED_BY_OPERATOR = 'dynatrace.com/updated-via-operator'

const UPDATED_BY_OPERATOR = { metadata: { annotations: { [MAPPED_BY_OPERATOR]: 'true' } } }

/** Names of all Secrets that are copied into namespaces. */
export const COPIED_SECRETS: readonly string[] = [
  FIXED_NAMES.bootstrapperConfig,
  FIXED_NAMES.bootstrapperCerts,
  FIXED_NAMES.otlpExporterConfig,
  FIXED_NAMES.otlpExporterCerts,
]

const nameOf = ({ name }: ObjectKey): string => name

/**
 * What a DynaKube has outside its own namespace. Copies go before the label: a namespace says whose copies it has to
 * the last.
 */
export const ELSEWHERE: readonly OwnedElsewhere[] = [
  {
    resource: Secrets,
    label: CREATED_BY,
    labelValue: nameOf,
    includes: ({ metadata }) => COPIED_SECRETS.includes(metadata.name),
    // The webhook may have made a copy in a namespace that is not in view yet. A deleted namespace takes its copies along.
    isPrunable: ({ metadata: { namespace: name = '' } }, view) => view.get(Namespaces, { name }) !== undefined,
  },
  {
    resource: Namespaces,
    label: INSTANCE_LABEL,
    labelValue: nameOf,
    release: () => ({
      metadata: { labels: { [INSTANCE_LABEL]: null }, annotations: UPDATED_BY_OPERATOR.metadata.annotations },
    }),
  },
]

/** The namespaces that carry the name of a DynaKube and are not being deleted, by name. */
export function namespacesOf(instance: string, cache: Pick<CacheReader, 'list'>): readonly NamespaceLabels[] {
  return cache
    .list(Namespaces)
    .filter(
      ({ metadata }) => metadata.labels?.[INSTANCE_LABEL] === instance && metadata.deletionTimestamp === undefined,
    )
    .map(({ metadata: { name, labels = {} } }) => ({ name, labels }))
    .sort((left, right) => (left.name < right.name ? -1 : 1))
}

/**
 * Names of the namespaces that belong to a DynaKube, among all that there are.
 *
 * *Errors*: `NamespaceConflictError`, `NamespaceSelectorError`.
 */
export function claimedNamespaces(
  current: DynaKube,
  patterns: IgnoredNamespacePatterns,
  cache: CacheReader,
): readonly string[] {
  const { namespace = '', uid, name: instance } = current.metadata
  const others = cache.list(DynaKubes, { namespace }).filter(({ metadata }) => metadata.uid !== uid)
  const dynakubes = [...others, current]
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .filter(changesPods)
    .sort((left, right) => ((left.metadata.name ?? '') < (right.metadata.name ?? '') ? -1 : 1))
  const namespaces = cache
    .list(Namespaces)
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .map(({ metadata }) => ({ name: metadata.name, labels: metadata.labels ?? {} }))
  return [...instancesOf(dynakubes, namespaces, patterns)].flatMap(([name, owner]) =>
    owner === instance ? [name] : [],
  )
}

/** The label on a namespace. */
export const labelled = (name: string, instance: string): DesiredObject =>
  desired(
    Namespaces,
    { metadata: { name, labels: { [INSTANCE_LABEL]: instance } } },
    { fieldsOnly: true, along: UPDATED_BY_OPERATOR },
  )

/**
 * The copies of Secrets in a namespace. Their names are reserved for the operator, also if another client created them.
 */
export function copiesIn(
  namespace: string,
  dynakube: DynaKube,
  sources: readonly DesiredObject[],
): readonly DesiredObject[] {
  const copies = copiesOf(dynakube)
  return sources.flatMap(({ object }) => {
    const name = copies.get(object.metadata.name ?? '')
    if (name === undefined) return []
    const { labels = {} } = object.metadata
    const { data = {} } = object as Secret // all sources are Secrets
    return [desired(Secrets, { metadata: { namespace, name, labels }, data }, { onForeign: 'adopt', sole: ['data'] })]
  })
}
