/**
 * What users say about pods. The schemas of these fields are those of Kubernetes, so the values are passed on as they
 * are; the compiler cannot see that, which is why the casts of this file exist, and are all in one place.
 */
import type {
  Affinity,
  EnvVar,
  PersistentVolumeClaim,
  PodSpec,
  ResourceRequirements,
  Volume,
  VolumeMount,
} from '@reeve/kube'

/** Fields of templates and modes that say where and how pods run. */
type Placement = Pick<
  PodSpec,
  | 'nodeSelector'
  | 'tolerations'
  | 'priorityClassName'
  | 'dnsPolicy'
  | 'topologySpreadConstraints'
  | 'terminationGracePeriodSeconds'
>

const PLACEMENT = [
  'nodeSelector',
  'tolerations',
  'priorityClassName',
  'dnsPolicy',
  'topologySpreadConstraints',
  'terminationGracePeriodSeconds',
] as const satisfies readonly (keyof Placement)[]

/**
 * Scheduling settings of the user, without empty ones.
 *
 * @example
 * const pod = { ...placementOf(dynakube.spec.activeGate), containers }
 */
export function placementOf(given: object | undefined): Placement {
  const fields = new Map(Object.entries(given ?? {}))
  const said = PLACEMENT.map((name) => [name, fields.get(name)] as const).filter(([, value]) => !isEmpty(value))
  return Object.fromEntries(said) as Placement
}

/** Environment variables of the user. */
export const containerEnvFrom = (given: readonly object[] | undefined): readonly EnvVar[] =>
  (given ?? []) as readonly EnvVar[]

/** CPU and memory by the user; `undefined` when nothing is said. Quantities become text, as they are stored. */
export function resourcesFrom(given: object | undefined): ResourceRequirements | undefined {
  if (given === undefined) return undefined
  const { requests, limits, ...others } = given as ResourceRequirements
  return { ...others, ...(requests && { requests: asText(requests) }), ...(limits && { limits: asText(limits) }) }
}

function asText(amounts: Readonly<Record<string, number | string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(amounts).map(([name, amount]) => [name, String(amount)]))
}

/** The user's rules about nodes. */
export const nodeAffinityFrom = (given: object): NonNullable<Affinity['nodeAffinity']> =>
  given as NonNullable<Affinity['nodeAffinity']>

/** The user's rules about nodes and neighbours. */
export const affinityFrom = (given: object): Affinity => given as Affinity

/** A claim of storage by the user. */
export const claimFrom = (given: object): NonNullable<PersistentVolumeClaim['spec']> =>
  given as NonNullable<PersistentVolumeClaim['spec']>

/** Volumes of the user. */
export const volumesFrom = (given: readonly object[] | undefined): readonly Volume[] =>
  (given ?? []) as readonly Volume[]

/** Mounts of the user. */
export const mountsFrom = (given: readonly object[] | undefined): readonly VolumeMount[] =>
  (given ?? []) as readonly VolumeMount[]

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true
  return typeof value === 'object' && Object.keys(value).length === 0
}
