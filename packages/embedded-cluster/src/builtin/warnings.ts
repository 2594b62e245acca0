/** Warnings about objects that are valid but probably not what their author intended. */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { isWholeNumber, parseQuantity } from '../api/quantity.ts'
import { type JsonObject, objectAt } from '../json.ts'
import { nameProblems } from './validation/formats.ts'
import { entriesOf, textAt } from './validation/problems.ts'

const deprecatedNodeLabels: Readonly<Record<string, readonly [since: string, instead: string]>> = {
  'beta.kubernetes.io/arch': ['v1.14', 'kubernetes.io/arch'],
  'beta.kubernetes.io/os': ['v1.14', 'kubernetes.io/os'],
  'failure-domain.beta.kubernetes.io/region': ['v1.17', 'topology.kubernetes.io/region'],
  'failure-domain.beta.kubernetes.io/zone': ['v1.17', 'topology.kubernetes.io/zone'],
  'beta.kubernetes.io/instance-type': ['v1.17', 'node.kubernetes.io/instance-type'],
}

/** Warnings about a pod. */
export function podWarnings(pod: JsonObject): readonly string[] {
  return [...nameWarnings(pod, "the Pod's hostname"), ...podSpecWarnings(objectAt(pod, 'spec'), 'spec')]
}

/** Warnings about a workload whose pods are named after it. */
export function namedWorkloadWarnings(object: JsonObject): readonly string[] {
  return [...nameWarnings(object, 'Pod names and hostnames'), ...workloadWarnings(object)]
}

/** Warnings about the template of a workload. */
export function workloadWarnings(object: JsonObject): readonly string[] {
  return podSpecWarnings(objectAt(objectAt(objectAt(object, 'spec'), 'template'), 'spec'), 'spec.template.spec')
}

/** Warnings about a cron job. */
export function cronJobWarnings(object: JsonObject): readonly string[] {
  const jobSpec = objectAt(objectAt(objectAt(object, 'spec'), 'jobTemplate'), 'spec')
  const path = 'spec.jobTemplate.spec.template.spec'
  const podSpec = objectAt(objectAt(jobSpec, 'template'), 'spec')
  return [...nameWarnings(object, 'Pod names and hostnames'), ...podSpecWarnings(podSpec, path)]
}

function nameWarnings(object: JsonObject, use: string): readonly string[] {
  const why = nameProblems(textAt(objectAt(object, 'metadata'), 'name'), 'label')
  if (why.length === 0) return []
  const effect = 'which can result in surprising behavior; a DNS label is recommended'
  return [`metadata.name: this is used in ${use}, ${effect}: [${why.join(' ')}]`]
}

function podSpecWarnings(spec: JsonObject, path: string): string[] {
  const warnings: string[] = []
  for (const label of Object.keys(objectAt(spec, 'nodeSelector'))) {
    const [since, instead] = deprecatedNodeLabels[label] ?? []
    if (since === undefined) continue
    warnings.push(`${path}.nodeSelector[${label}]: deprecated since ${since}; use "${instead}" instead`)
  }
  warnings.push(...hostAliasWarnings(spec, path))
  for (const [secret, at] of entriesOf(spec, 'imagePullSecrets', `${path}.imagePullSecrets`)) {
    if (textAt(secret, 'name') === '') warnings.push(`${at}.name: invalid empty name ""`)
  }
  for (const field of ['initContainers', 'containers']) {
    for (const [container, at] of entriesOf(spec, field, `${path}.${field}`))
      warnings.push(...containerWarnings(container, at))
  }
  return warnings
}

function* hostAliasWarnings(spec: JsonObject, path: string): Generator<string> {
  const seen = new Set<string>()
  for (const [alias, at] of entriesOf(spec, 'hostAliases', `${path}.hostAliases`)) {
    const ip = textAt(alias, 'ip')
    if (seen.has(ip)) yield `${at}.ip: duplicate ip ${JSON.stringify(ip)}`
    seen.add(ip)
  }
}

function* containerWarnings(container: JsonObject, path: string): Generator<string> {
  for (const list of ['limits', 'requests']) {
    for (const [name, value] of Object.entries(objectAt(objectAt(container, 'resources'), list))) {
      if (name !== 'memory' && name !== 'ephemeral-storage') continue
      if (isWholeNumber(parseQuantity(String(value)))) continue
      yield `${path}.resources.${list}[${name}]: fractional byte value "${value}" is invalid, must be an integer`
    }
  }
  const names = new Set<string>()
  for (const [variable, at] of entriesOf(container, 'env', `${path}.env`)) {
    const name = textAt(variable, 'name')
    if (names.has(name)) yield `${at}: hides previous definition of "${name}", which may be dropped when using apply`
    names.add(name)
  }
  const ports = new Map<string, string>()
  for (const [port, at] of entriesOf(container, 'ports', `${path}.ports`)) {
    const key = `${port.protocol}/${port.containerPort}/${port.hostPort ?? 0}/${textAt(port, 'hostIP')}`
    const first = ports.get(key)
    if (first === undefined) ports.set(key, at)
    else yield `${at}: duplicate port definition with ${first}`
  }
}

/** Warnings about an Ingress. */
export function ingressWarnings(ingress: JsonObject): readonly string[] {
  const name = 'kubernetes.io/ingress.class'
  if (objectAt(objectAt(ingress, 'metadata'), 'annotations')[name] === undefined) return []
  return [`annotation "${name}" is deprecated, please use 'spec.ingressClassName' instead`]
}

/** Warnings about a Service. */
export function serviceWarnings(service: JsonObject): readonly string[] {
  const { clusterIP, sessionAffinity } = objectAt(service, 'spec')
  const isIgnored = clusterIP === 'None' && sessionAffinity !== 'None'
  return isIgnored ? ['spec.SessionAffinity is ignored for headless services'] : []
}

/** Warnings about a Secret: whether certificate and key of a TLS secret are usable. */
export function secretWarnings(secret: JsonObject): readonly string[] {
  if (secret.type !== 'kubernetes.io/tls') return []
  const decode = (key: string) => Buffer.from(textAt(objectAt(secret, 'data'), key), 'base64').toString()
  const [certificate, key] = [decode('tls.crt'), decode('tls.key')]
  if (!certificate.includes('-----BEGIN CERTIFICATE-----')) {
    return ['tls: failed to find any PEM data in certificate input']
  }
  if (!/-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----/.test(key)) return ['tls: failed to find any PEM data in key input']
  try {
    const matches = new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key))
    return matches ? [] : ['tls: private key does not match public key']
  } catch {
    // The values must not be shown; it only matters that they cannot be parsed.
    return ['tls: failed to parse certificate or private key']
  }
}
