/** The spec of pods and pod templates. */
import { arrayAt, type JsonObject, type JsonValue, objectAt } from '../../json.ts'
import { validateContainers } from './containers.ts'
import { addressProblems, nameProblems } from './formats.ts'
import { validateLabels } from './label-selectors.ts'
import { entriesOf, type Problems, textAt, textsAt } from './problems.ts'
import { validateScheduling } from './scheduling.ts'
import { validatePodSecurity } from './security.ts'
import { validateVolumes } from './volumes.ts'

const MAX_DEADLINE = 2_147_483_647

/** Validates a pod's spec, in a pod or in a template. */
export function validatePodSpec(problems: Problems, spec: JsonObject, path: string): void {
  const volumes = validateVolumes(problems, spec, path)
  validateContainers(problems, spec, path, volumes)
  validateHostNetwork(problems, spec, path)
  problems.oneOf(`${path}.restartPolicy`, spec.restartPolicy, ['Always', 'OnFailure', 'Never'])
  validateDns(problems, spec, path)
  validateScheduling(problems, spec, path)
  validatePodSecurity(problems, objectAt(spec, 'securityContext'), `${path}.securityContext`)
  validateNames(problems, spec, path)
  validateGates(problems, spec, path)
  const deadline = spec.activeDeadlineSeconds
  if (typeof deadline === 'number' && (deadline < 1 || deadline > MAX_DEADLINE)) {
    problems.invalid(`${path}.activeDeadlineSeconds`, deadline, `must be between 1 and ${MAX_DEADLINE}, inclusive`)
  }
  if (spec.preemptionPolicy !== undefined) {
    problems.oneOf(`${path}.preemptionPolicy`, spec.preemptionPolicy, ['Never', 'PreemptLowerPriority'])
  }
}

/** On the host network, container port and host port are the same. */
function validateHostNetwork(problems: Problems, spec: JsonObject, path: string): void {
  if (spec.hostNetwork !== true) return
  for (const [container, at] of entriesOf(spec, 'containers', `${path}.containers`)) {
    for (const [port, portAt] of entriesOf(container, 'ports', `${at}.ports`)) {
      const { hostPort, containerPort } = port
      if (hostPort === undefined || hostPort === containerPort) continue
      problems.invalid(`${portAt}.hostPort`, hostPort, 'must match `containerPort` when `hostNetwork` is true')
    }
  }
}

function validateDns(problems: Problems, spec: JsonObject, path: string): void {
  const policies = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None']
  problems.oneOf(`${path}.dnsPolicy`, spec.dnsPolicy, policies)
  const config = objectAt(spec, 'dnsConfig')
  const servers = textsAt(config, 'nameservers')
  if (spec.dnsPolicy === 'None') {
    if (spec.dnsConfig === undefined) {
      problems.required(`${path}.dnsConfig`, 'must provide `dnsConfig` when `dnsPolicy` is None')
    } else if (servers.length === 0) {
      const why = 'must provide at least one DNS nameserver when `dnsPolicy` is None'
      problems.required(`${path}.dnsConfig.nameservers`, why)
    }
  }
  for (const [index, server] of servers.entries()) {
    problems.invalidAll(`${path}.dnsConfig.nameservers[${index}]`, server, addressProblems(server))
  }
}

function validateNames(problems: Problems, spec: JsonObject, path: string): void {
  for (const field of ['serviceAccountName', 'nodeName', 'priorityClassName', 'runtimeClassName']) {
    const name = textAt(spec, field)
    if (name !== '') problems.invalidAll(`${path}.${field}`, name, nameProblems(name))
  }
  for (const field of ['hostname', 'subdomain']) {
    const name = textAt(spec, field)
    if (name !== '') problems.invalidAll(`${path}.${field}`, name, nameProblems(name, 'label'))
  }
  for (const [alias, at] of entriesOf(spec, 'hostAliases', `${path}.hostAliases`)) {
    const ip = textAt(alias, 'ip')
    problems.invalidAll(`${at}.ip`, ip, addressProblems(ip))
    for (const [index, name] of textsAt(alias, 'hostnames').entries()) {
      problems.invalidAll(`${at}.hostnames[${index}]`, name, nameProblems(name))
    }
  }
}

function validateGates(problems: Problems, spec: JsonObject, path: string): void {
  const seen = new Set<string>()
  for (const [gate, at] of entriesOf(spec, 'schedulingGates', `${path}.schedulingGates`)) {
    const name = textAt(gate, 'name')
    if (seen.has(name)) problems.duplicate(at, name)
    seen.add(name)
  }
}

/** Validates fields of pods that templates do not have. */
export function validatePodOnly(problems: Problems, spec: JsonObject): void {
  for (const field of ['containers', 'initContainers']) {
    for (const [container, at] of entriesOf(spec, field, `spec.${field}`)) {
      const image = textAt(container, 'image')
      if (image === image.trim()) continue
      problems.invalid(`${at}.image`, image, 'must not have leading or trailing whitespace')
    }
  }
}

/** Rejects fields that a new pod must not have. */
export function validateNewPod(problems: Problems, spec: JsonObject): void {
  if (arrayAt(spec, 'ephemeralContainers').length > 0) {
    problems.forbidden('spec.ephemeralContainers', 'cannot be set on create')
  }
  if (textAt(spec, 'nodeName') !== '' && arrayAt(spec, 'schedulingGates').length > 0) {
    problems.forbidden('spec.nodeName', 'cannot be set until all schedulingGates have been cleared')
  }
}

/** Validates the template of a workload. */
export function validatePodTemplate(problems: Problems, template: JsonObject, path: string): void {
  validateLabels(problems, objectAt(template, 'metadata').labels, `${path}.labels`)
  validatePodSpec(problems, objectAt(template, 'spec'), `${path}.spec`)
  if (arrayAt(objectAt(template, 'spec'), 'ephemeralContainers').length > 0) {
    problems.forbidden(`${path}.spec.ephemeralContainers`, 'ephemeral containers not allowed in pod template')
  }
}

/** Validates that the restart policy of a workload's pods is `Always`. */
export function validateAlwaysRestarts(problems: Problems, template: JsonObject, path: string, owner: string): void {
  const spec = objectAt(template, 'spec')
  const policy: JsonValue | undefined = spec.restartPolicy
  // An unknown policy was reported with the pod's spec already.
  if (policy === 'OnFailure' || policy === 'Never')
    problems.notSupported(`${path}.spec.restartPolicy`, policy, ['Always'])
  if (spec.activeDeadlineSeconds === undefined) return
  problems.forbidden(`${path}.spec.activeDeadlineSeconds`, `activeDeadlineSeconds in ${owner} is not Supported`)
}
