/** Containers of pods. */
import { isJsonObject, type JsonObject, objectAt } from '../../json.ts'
import { validateContainerEnv } from './container-env.ts'
import { isPort, nameProblems, PORT_RANGE, portNameProblems, relativePathProblems } from './formats.ts'
import { refuseProbes, validateProbes } from './probes.ts'
import { entriesOf, type Problems, textAt } from './problems.ts'
import { validateRequirements } from './resources.ts'
import { validateContainerSecurity } from './security.ts'

const protocols = ['SCTP', 'TCP', 'UDP']
const containerRestartPolicies = ['Always', 'OnFailure', 'Never']

/** Validates `containers` and `initContainers` of a pod's spec. `volumes` are the names of its volumes. */
export function validateContainers(
  problems: Problems,
  spec: JsonObject,
  path: string,
  volumes: ReadonlySet<string>,
): void {
  const names = new Set<string>()
  const containers = [...entriesOf(spec, 'containers', `${path}.containers`)]
  if (containers.length === 0) problems.required(`${path}.containers`)
  for (const [container, at] of containers) {
    validateContainer(problems, container, at, volumes)
    const name = textAt(container, 'name')
    if (names.has(name)) problems.duplicate(`${at}.name`, name)
    names.add(name)
    validateProbes(problems, container, at)
    validateRestartPolicy(problems, container, at, containerRestartPolicies)
  }
  validateHostPorts(problems, containers)
  for (const [container, at] of entriesOf(spec, 'initContainers', `${path}.initContainers`)) {
    validateContainer(problems, container, at, volumes)
    const name = textAt(container, 'name')
    if (names.has(name)) problems.duplicate(`${at}.name`, name)
    else if (name !== '') names.add(name)
    validateRestartPolicy(problems, container, at, containerRestartPolicies)
    validateHostPorts(problems, [[container, at]])
    if (container.restartPolicy === 'Always') validateProbes(problems, container, at)
    else refuseProbes(problems, container, at)
  }
}

function validateContainer(
  problems: Problems,
  container: JsonObject,
  path: string,
  volumes: ReadonlySet<string>,
): void {
  const name = textAt(container, 'name')
  if (name === '') problems.required(`${path}.name`)
  else problems.invalidAll(`${path}.name`, name, nameProblems(name, 'label'))
  if (textAt(container, 'image') === '') problems.required(`${path}.image`)
  problems.oneOf(`${path}.imagePullPolicy`, container.imagePullPolicy, ['Always', 'IfNotPresent', 'Never'])
  const messagePolicies = ['File', 'FallbackToLogsOnError']
  problems.oneOf(`${path}.terminationMessagePolicy`, container.terminationMessagePolicy, messagePolicies)
  validatePorts(problems, container, `${path}.ports`)
  validateContainerEnv(problems, container, path)
  validateMounts(problems, container, path, volumes)
  validateRequirements(problems, objectAt(container, 'resources'), `${path}.resources`)
  if (isJsonObject(container.securityContext)) {
    validateContainerSecurity(problems, container.securityContext, `${path}.securityContext`)
  }
}

function validateRestartPolicy(
  problems: Problems,
  container: JsonObject,
  path: string,
  known: readonly string[],
): void {
  if (container.restartPolicy !== undefined) problems.oneOf(`${path}.restartPolicy`, container.restartPolicy, known)
}

function validatePorts(problems: Problems, container: JsonObject, path: string): void {
  const names = new Set<string>()
  for (const [port, at] of entriesOf(container, 'ports', path)) {
    const name = textAt(port, 'name')
    const why = name === '' ? [] : portNameProblems(name)
    problems.invalidAll(`${at}.name`, name, why)
    if (why.length === 0 && names.has(name)) problems.duplicate(`${at}.name`, name)
    if (why.length === 0 && name !== '') names.add(name)
    if ((port.containerPort ?? 0) === 0) problems.required(`${at}.containerPort`)
    else if (!isPort(port.containerPort)) problems.invalid(`${at}.containerPort`, port.containerPort, PORT_RANGE)
    if ((port.hostPort ?? 0) !== 0 && !isPort(port.hostPort))
      problems.invalid(`${at}.hostPort`, port.hostPort, PORT_RANGE)
    problems.oneOf(`${at}.protocol`, port.protocol, protocols)
  }
}

/** A host port can be used once per protocol and address. */
function validateHostPorts(problems: Problems, containers: readonly (readonly [JsonObject, string])[]): void {
  const taken = new Set<string>()
  for (const [container, path] of containers) {
    for (const [port, at] of entriesOf(container, 'ports', `${path}.ports`)) {
      if (typeof port.hostPort !== 'number' || port.hostPort === 0) continue
      const key = `${port.protocol}/${textAt(port, 'hostIP')}/${port.hostPort}`
      if (taken.has(key)) problems.duplicate(`${at}.hostPort`, key)
      taken.add(key)
    }
  }
}

function validateMounts(problems: Problems, container: JsonObject, path: string, volumes: ReadonlySet<string>): void {
  const list = `${path}.volumeMounts`
  const paths = new Set<string>()
  for (const [mount, at] of entriesOf(container, 'volumeMounts', list)) {
    const name = textAt(mount, 'name')
    const mountPath = textAt(mount, 'mountPath')
    if (name === '') problems.required(`${at}.name`)
    if (!volumes.has(name)) problems.notFound(`${at}.name`, name)
    if (mountPath === '') problems.required(`${at}.mountPath`)
    if (paths.has(mountPath)) problems.invalid(`${at}.mountPath`, mountPath, 'must be unique')
    paths.add(mountPath)
    for (const field of ['subPath', 'subPathExpr']) {
      const value = textAt(mount, field)
      if (value !== '') problems.invalidAll(`${list}.${field}`, value, relativePathProblems(value))
    }
    if (textAt(mount, 'subPath') !== '' && textAt(mount, 'subPathExpr') !== '') {
      problems.invalid(`${at}.subPathExpr`, mount.subPathExpr, 'subPathExpr and subPath are mutually exclusive')
    }
    if (mount.mountPropagation !== undefined) {
      const modes = ['Bidirectional', 'HostToContainer', 'None']
      problems.oneOf(`${list}.mountPropagation`, mount.mountPropagation, modes)
      const isPrivileged = objectAt(container, 'securityContext').privileged === true
      if (mount.mountPropagation === 'Bidirectional' && !isPrivileged) {
        problems.forbidden(
          `${list}.mountPropagation`,
          'Bidirectional mount propagation is available only to privileged containers',
        )
      }
    }
  }
  for (const [device, at] of entriesOf(container, 'volumeDevices', `${path}.volumeDevices`)) {
    if (textAt(device, 'name') === '') problems.required(`${at}.name`)
    if (textAt(device, 'devicePath') === '') problems.required(`${at}.devicePath`)
  }
}
