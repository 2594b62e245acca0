/** Defaults of pods and pod templates. Everything here changes drafts in place. */
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'

const OCTAL_644 = 420

/** The object under `field`, created when it is absent. */
export function ensureObject(parent: JsonObject, field: string): JsonObject {
  const value = parent[field]
  if (isJsonObject(value)) return value
  const created: JsonObject = {}
  parent[field] = created
  return created
}

/** Sets `field` unless it has a value; an empty string counts as none, as in Go's typed objects. */
export function setDefault(parent: JsonObject, field: string, value: JsonValue): void {
  const current = parent[field]
  if (current === undefined || current === null || current === '') parent[field] = value
}

/** The objects in the list under `field`. */
export function objectsIn(parent: JsonObject | undefined, field: string): readonly JsonObject[] {
  const list = parent?.[field]
  return Array.isArray(list) ? list.filter(isJsonObject) : []
}

/** Fills a pod's spec, in a pod or in a template. */
export function defaultPodSpec(spec: JsonObject): void {
  setDefault(spec, 'restartPolicy', 'Always')
  setDefault(spec, 'dnsPolicy', 'ClusterFirst')
  setDefault(spec, 'schedulerName', 'default-scheduler')
  setDefault(spec, 'terminationGracePeriodSeconds', 30)
  ensureObject(spec, 'securityContext')
  // Two names for one thing: the older one always mirrors the newer.
  if (typeof spec.serviceAccountName === 'string' && spec.serviceAccountName !== '') {
    spec.serviceAccount = spec.serviceAccountName
  } else if (typeof spec.serviceAccount === 'string' && spec.serviceAccount !== '') {
    spec.serviceAccountName = spec.serviceAccount
  }
  for (const field of ['containers', 'initContainers', 'ephemeralContainers']) {
    for (const container of objectsIn(spec, field)) defaultContainer(container, spec.hostNetwork === true)
  }
  for (const volume of objectsIn(spec, 'volumes')) defaultVolume(volume)
  for (const constraint of objectsIn(spec, 'topologySpreadConstraints')) {
    setDefault(constraint, 'whenUnsatisfiable', 'DoNotSchedule')
  }
}

/** Fills what holds for pods only and not for templates. */
export function defaultPodOnly(spec: JsonObject): void {
  setDefault(spec, 'enableServiceLinks', true)
  for (const field of ['containers', 'initContainers']) {
    for (const container of objectsIn(spec, field)) {
      const resources = ensureObject(container, 'resources')
      if (!isJsonObject(resources.limits)) continue
      resources.requests = { ...resources.limits, ...(isJsonObject(resources.requests) ? resources.requests : {}) }
    }
  }
}

function defaultContainer(container: JsonObject, isHostNetwork: boolean): void {
  setDefault(container, 'imagePullPolicy', pullPolicy(container.image))
  setDefault(container, 'terminationMessagePath', '/dev/termination-log')
  setDefault(container, 'terminationMessagePolicy', 'File')
  ensureObject(container, 'resources')
  for (const port of objectsIn(container, 'ports')) {
    setDefault(port, 'protocol', 'TCP')
    if (isHostNetwork && port.containerPort !== undefined) setDefault(port, 'hostPort', port.containerPort)
  }
  for (const field of ['livenessProbe', 'readinessProbe', 'startupProbe']) {
    const probe = container[field]
    if (isJsonObject(probe)) defaultProbe(probe)
  }
  if (isJsonObject(container.lifecycle)) {
    for (const field of ['postStart', 'preStop']) {
      const handler = container.lifecycle[field]
      if (isJsonObject(handler)) defaultHttpGet(handler.httpGet)
    }
  }
  for (const variable of objectsIn(container, 'env')) {
    const source = variable.valueFrom
    if (isJsonObject(source) && isJsonObject(source.fieldRef)) setDefault(source.fieldRef, 'apiVersion', 'v1')
  }
}

function pullPolicy(image: JsonValue | undefined): string {
  const text = typeof image === 'string' ? image : ''
  const name = text.slice(text.lastIndexOf('/') + 1)
  if (name.includes('@')) return 'IfNotPresent'
  const tag = name.includes(':') ? name.slice(name.indexOf(':') + 1) : 'latest'
  return tag === 'latest' ? 'Always' : 'IfNotPresent'
}

function defaultProbe(probe: JsonObject): void {
  setDefault(probe, 'timeoutSeconds', 1)
  setDefault(probe, 'periodSeconds', 10)
  setDefault(probe, 'successThreshold', 1)
  setDefault(probe, 'failureThreshold', 3)
  if (probe.timeoutSeconds === 0) probe.timeoutSeconds = 1
  if (probe.periodSeconds === 0) probe.periodSeconds = 10
  if (probe.successThreshold === 0) probe.successThreshold = 1
  if (probe.failureThreshold === 0) probe.failureThreshold = 3
  defaultHttpGet(probe.httpGet)
  if (isJsonObject(probe.grpc)) probe.grpc.service ??= ''
}

function defaultHttpGet(action: JsonValue | undefined): void {
  if (!isJsonObject(action)) return
  setDefault(action, 'path', '/')
  setDefault(action, 'scheme', 'HTTP')
}

function defaultVolume(volume: JsonObject): void {
  const sources = Object.keys(volume).filter((field) => field !== 'name' && volume[field] !== undefined)
  if (sources.length === 0) volume.emptyDir = {}
  for (const field of ['secret', 'configMap', 'projected', 'downwardAPI']) {
    const source = volume[field]
    if (isJsonObject(source)) setDefault(source, 'defaultMode', OCTAL_644)
  }
  if (isJsonObject(volume.hostPath)) volume.hostPath.type ??= ''
  if (isJsonObject(volume.downwardAPI)) defaultDownward(volume.downwardAPI)
  if (isJsonObject(volume.projected)) {
    for (const source of objectsIn(volume.projected, 'sources')) {
      if (isJsonObject(source.serviceAccountToken)) setDefault(source.serviceAccountToken, 'expirationSeconds', 3600)
      if (isJsonObject(source.downwardAPI)) defaultDownward(source.downwardAPI)
    }
  }
}

function defaultDownward(source: JsonObject): void {
  for (const item of objectsIn(source, 'items')) {
    if (isJsonObject(item.fieldRef)) setDefault(item.fieldRef, 'apiVersion', 'v1')
  }
}

/** Fills the template of a workload. */
export function defaultPodTemplate(template: JsonValue | undefined): void {
  if (!isJsonObject(template)) return
  if (isJsonObject(template.spec)) defaultPodSpec(template.spec)
}
