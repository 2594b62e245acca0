/** `OTEL_RESOURCE_ATTRIBUTES`: what OpenTelemetry SDKs say about the process that they run in. Pure. */
import type { Container } from '@reeve/kube'
import { type Attributes, podAttributes, workloadAttributes } from './attributes.ts'
import type { InjectionInput, Workload } from './injection-input.ts'
import { envOf, POD_VARIABLES, withDefaultEnv } from './pod-edits.ts'

const VARIABLE = 'OTEL_RESOURCE_ATTRIBUTES'

/** Attributes that all containers of a pod share, in the order in which they win, and encoded. */
export interface SharedAttributes {
  readonly metadata: readonly (readonly [string, string])[]
  readonly pod: readonly (readonly [string, string])[]
  readonly workload: readonly (readonly [string, string])[]
}

/** What all containers of a pod share: prepared once, because encoding takes longer than everything else about them. */
export function sharedAttributes(input: InjectionInput, metadata: Attributes, workload: Workload): SharedAttributes {
  return {
    metadata: encoded(metadata),
    pod: encoded(podAttributes(input)),
    workload: encoded(workloadAttributes(workload)),
  }
}

/**
 * Adds attributes to those of the container, which win. Of the rest metadata wins over what is computed.
 *
 * *Guarantee*: the variable comes last, behind everything that it refers to.
 */
export function withResourceAttributes(container: Container, shared: SharedAttributes): Container {
  const existing = existingAttributes(envOf(container, VARIABLE)?.value ?? '')
  const own = ['k8s.container.name', container.name] as const
  const merged = new Map(existing)
  for (const [key, value] of [...shared.metadata, ...shared.pod, own, ...shared.workload]) {
    if (!merged.has(key)) merged.set(key, value)
  }
  // Empty metadata takes the place of what is computed, and is left out.
  const pairs = [...merged].filter(([key, text]) => key !== '' && text !== '')
  const value = pairs.map(([key, text]) => `${key}=${text}`).join(',')
  const { env = [] } = withDefaultEnv(container, POD_VARIABLES)
  const complete = [...env.filter(({ name }) => name !== VARIABLE), { name: VARIABLE, value }]
  return isSameEnv(container.env, complete) ? container : { ...container, env: complete }
}

const isSameEnv = (one: Container['env'], other: Container['env']): boolean =>
  one?.length === other?.length && JSON.stringify(one) === JSON.stringify(other)

/** Pairs as they are written, of several with one key the last; what is not a pair is dropped. */
function existingAttributes(text: string): Attributes {
  const attributes = new Map<string, string>()
  for (const pair of text.split(',')) {
    const at = pair.indexOf('=')
    const [key, value] = [pair.slice(0, at).trim(), pair.slice(at + 1).trim()]
    if (at <= 0 || key === '') continue
    if (value === '') attributes.delete(key)
    else attributes.set(key, value)
  }
  return attributes
}

/** What the kubelet resolves to a field of the pod. */
const REFERENCES = new Set(POD_VARIABLES.map(({ name }) => `$(${name})`))

/**
 * Only references to fields of the pod stay: any other, such as in the annotation of a namespace, would send a variable
 * of the container, which may be a secret, along with its telemetry.
 */
const encoded = (attributes: Attributes): readonly (readonly [string, string])[] =>
  [...attributes].map(([key, value]) => [
    key.replaceAll(/[$,=]/g, encodeURIComponent),
    REFERENCES.has(value) ? value : formEncode(value),
  ])

/** As in an HTML form: a space becomes a plus sign, and only letters, digits and `-_.~` stay. */
function formEncode(text: string): string {
  const strict = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`
  return encodeURIComponent(text.toWellFormed())
    .replaceAll('%20', '+')
    .replaceAll(/[!'()*]/g, strict)
}
