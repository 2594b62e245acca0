/** Warnings about objects that are accepted and still hardly what their author means. */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { type JsonObject, objectAt } from '../json.ts'
import { isWholeNumber, parseQuantity } from './quantity.ts'
import { nameProblems } from './validation/formats.ts'
import { entriesOf, textAt } from './validation/problems.ts'

const nodeLabelsOfOld: Readonly<Record<string, readonly [since: string, instead: string]>> = {
  'beta.kubernetes.io/arch': ['v1.14', 'kubernetes.io/arch'],
  'beta.kubernetes.io/os': ['v1.14', 'kubernetes.io/os'],
  'failure-domain.beta.kubernetes.io/region': ['v1.17', 'topology.kubernetes.io/region'],
  'failure-domain.beta.kubernetes.io/zone': ['v1.17', 'topology.kubernetes.io/zone'],
  'beta.kubernetes.io/instance-type': ['v1.17', 'node.kubernetes.io/instance-type'],
}

/** Advice about a pod. */
export function adviseOnPod(pod: JsonObject): readonly string[] {
  return [...adviseOnName(pod, "the Pod's hostname"), ...adviseOnPodSpec(objectAt(pod, 'spec'), 'spec')]
}

/** Advice about a workload whose pods are named after it. */
export function adviseOnNamedWorkload(object: JsonObject): readonly string[] {
  return [...adviseOnName(object, 'Pod names and hostnames'), ...adviseOnWorkload(object)]
}

/** Advice about the template of a workload. */
export function adviseOnWorkload(object: JsonObject): readonly string[] {
  return adviseOnPodSpec(objectAt(objectAt(objectAt(object, 'spec'), 'template'), 'spec'), 'spec.template.spec')
}

/** Advice about a cron job. */
export function adviseOnCronJob(object: JsonObject): readonly string[] {
  const jobSpec = objectAt(objectAt(objectAt(object, 'spec'), 'jobTemplate'), 'spec')
  const path = 'spec.jobTemplate.spec.template.spec'
  const podSpec = objectAt(objectAt(jobSpec, 'template'), 'spec')
  return [...adviseOnName(object, 'Pod names and hostnames'), ...adviseOnPodSpec(podSpec, path)]
}

function adviseOnName(object: JsonObject, use: string): readonly string[] {
  const why = nameProblems(textAt(objectAt(object, 'metadata'), 'name'), 'label')
  if (why.length === 0) return []
  const effect = 'which can result in surprising behavior; a DNS label is recommended'
  return [`metadata.name: this is used in ${use}, ${effect}: [${why.join(' ')}]`]
}

function adviseOnPodSpec(spec: JsonObject, path: string): string[] {
  const advice: string[] = []
  for (const label of Object.keys(objectAt(spec, 'nodeSelector'))) {
    const [since, instead] = nodeLabelsOfOld[label] ?? []
    if (since === undefined) continue
    advice.push(`${path}.nodeSelector[${label}]: deprecated since ${since}; use "${instead}" instead`)
  }
  advice.push(...adviseOnAliases(spec, path))
  for (const [secret, at] of entriesOf(spec, 'imagePullSecrets', `${path}.imagePullSecrets`)) {
    if (textAt(secret, 'name') === '') advice.push(`${at}.name: invalid empty name ""`)
  }
  for (const field of ['initContainers', 'containers']) {
    for (const [container, at] of entriesOf(spec, field, `${path}.${field}`))
      advice.push(...adviseOnContainer(container, at))
  }
  return advice
}

function* adviseOnAliases(spec: JsonObject, path: string): Generator<string> {
  const seen = new Set<string>()
  for (const [alias, at] of entriesOf(spec, 'hostAliases', `${path}.hostAliases`)) {
    const ip = textAt(alias, 'ip')
    if (seen.has(ip)) yield `${at}.ip: duplicate ip ${JSON.stringify(ip)}`
    seen.add(ip)
  }
}

function* adviseOnContainer(container: JsonObject, path: string): Generator<string> {
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

/** Advice about an Ingress. */
export function adviseOnIngress(ingress: JsonObject): readonly string[] {
  const name = 'kubernetes.io/ingress.class'
  if (objectAt(objectAt(ingress, 'metadata'), 'annotations')[name] === undefined) return []
  return [`annotation "${name}" is deprecated, please use 'spec.ingressClassName' instead`]
}

/** Advice about a Service. */
export function adviseOnService(service: JsonObject): readonly string[] {
  const { clusterIP, sessionAffinity } = objectAt(service, 'spec')
  const isIgnored = clusterIP === 'None' && sessionAffinity !== 'None'
  return isIgnored ? ['spec.SessionAffinity is ignored for headless services'] : []
}

/** Advice about a Secret: whether certificate and key of a TLS secret can be used. */
export function adviseOnSecret(secret: JsonObject): readonly string[] {
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
    // Neither may be shown; that they cannot be read is what counts.
    return ['tls: failed to parse certificate or private key']
  }
}
