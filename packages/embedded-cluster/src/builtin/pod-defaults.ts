/** Defaults of pods and pod templates. All functions modify drafts in place. */

import { ensureObject, objectsIn, setDefault, setDefaults, withObject } from '../draft-fields.ts'
import { isJsonObject, type JsonObject, type JsonValue, objectAt } from '../json.ts'
import { defaultPullPolicy } from './image-pull-policy.ts'
import { defaultVolume } from './volume-defaults.ts'

/** Sets defaults in a pod's spec, in a pod or in a template. */
export function defaultPodSpec(spec: JsonObject): void {
  setDefaults(spec, {
    restartPolicy: 'Always',
    dnsPolicy: 'ClusterFirst',
    schedulerName: 'default-scheduler',
    terminationGracePeriodSeconds: 30,
  })
  ensureObject(spec, 'securityContext')
  // The deprecated field always mirrors the new one.
  if (typeof spec.serviceAccountName === 'string') spec.serviceAccount = spec.serviceAccountName
  else if (typeof spec.serviceAccount === 'string') spec.serviceAccountName = spec.serviceAccount
  for (const field of ['containers', 'initContainers', 'ephemeralContainers']) {
    for (const container of objectsIn(spec, field)) defaultContainer(container)
  }
  for (const volume of objectsIn(spec, 'volumes')) defaultVolume(volume)
}

/** Sets defaults that apply to pods but not to templates. */
export function defaultPodOnly(spec: JsonObject): void {
  spec.enableServiceLinks ??= true
  for (const field of ['containers', 'initContainers']) {
    for (const container of objectsIn(spec, field)) {
      requestLimits(ensureObject(container, 'resources'))
      if (spec.hostNetwork !== true) continue
      for (const port of objectsIn(container, 'ports')) port.hostPort ??= port.containerPort
    }
  }
}

/** Requests default to limits. */
function requestLimits(resources: JsonObject): void {
  if (!isJsonObject(resources.limits)) return
  const requests = ensureObject(resources, 'requests')
  for (const [name, limit] of Object.entries(resources.limits)) requests[name] ??= limit
}

function defaultContainer(container: JsonObject): void {
  setDefaults(container, {
    imagePullPolicy: defaultPullPolicy(container.image),
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
  })
  for (const port of objectsIn(container, 'ports')) setDefault(port, 'protocol', 'TCP')
  for (const field of ['livenessProbe', 'readinessProbe', 'startupProbe']) withObject(container, field, defaultProbe)
  withObject(container, 'lifecycle', (lifecycle) => {
    for (const field of ['postStart', 'preStop']) withObject(lifecycle, field, defaultHandler)
  })
  for (const variable of objectsIn(container, 'env')) {
    withObject(objectAt(variable, 'valueFrom'), 'fieldRef', (ref) => setDefault(ref, 'apiVersion', 'v1'))
  }
}

function defaultProbe(probe: JsonObject): void {
  setDefaults(probe, { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 })
  defaultHandler(probe)
  withObject(probe, 'grpc', (action) => {
    action.service ??= ''
  })
}

function defaultHandler(handler: JsonObject): void {
  withObject(handler, 'httpGet', (action) => setDefaults(action, { path: '/', scheme: 'HTTP' }))
}

/** Sets defaults in the template of a workload. */
export function defaultPodTemplate(template: JsonValue | undefined): void {
  if (isJsonObject(template)) withObject(template, 'spec', defaultPodSpec)
}
