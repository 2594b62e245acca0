/** Probes and life-cycle hooks of containers. */
import { isJsonObject, type JsonObject, objectAt } from '../../json.ts'
import { isPort, notNegative, PORT_RANGE, portOrName } from './formats.ts'
import { entriesOf, type Problems, textAt, textsAt } from './problems.ts'

const headerText =
  "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')"

/** Validates the probes and hooks of a long-running container. */
export function validateProbes(problems: Problems, container: JsonObject, path: string): void {
  for (const field of ['postStart', 'preStop']) {
    const hook = objectAt(container, 'lifecycle')[field]
    if (isJsonObject(hook)) validateHandler(problems, hook, `${path}.lifecycle.${field}`)
  }
  for (const field of ['livenessProbe', 'readinessProbe', 'startupProbe']) {
    const probe = container[field]
    if (isJsonObject(probe)) validateProbe(problems, probe, `${path}.${field}`, field !== 'readinessProbe')
  }
}

/** Rejects probes and hooks of a container that must exit before others start. */
export function refuseProbes(problems: Problems, container: JsonObject, path: string): void {
  for (const field of ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe']) {
    if (container[field] === undefined) continue
    problems.forbidden(`${path}.${field}`, 'may not be set for init containers without restartPolicy=Always')
  }
}

function validateProbe(problems: Problems, probe: JsonObject, path: string, succeedsOnce: boolean): void {
  validateHandler(problems, probe, path)
  const counts = ['initialDelaySeconds', 'timeoutSeconds', 'periodSeconds', 'successThreshold', 'failureThreshold']
  for (const field of counts) notNegative(problems, `${path}.${field}`, probe[field])
  const grace = probe.terminationGracePeriodSeconds
  if (typeof grace === 'number') {
    if (grace <= 0) problems.invalid(`${path}.terminationGracePeriodSeconds`, grace, 'must be greater than 0')
    else if (!succeedsOnce) {
      problems.invalid(`${path}.terminationGracePeriodSeconds`, grace, 'must not be set for readinessProbes')
    }
  }
  if (succeedsOnce && probe.successThreshold !== 1) {
    problems.invalid(`${path}.successThreshold`, probe.successThreshold, 'must be 1')
  }
}

const handlers: readonly (readonly [
  field: string,
  validate: (problems: Problems, action: JsonObject, at: string) => void,
])[] = [
  ['exec', validateExec],
  ['httpGet', validateHttpGet],
  ['tcpSocket', (problems, action, at) => portOrName(problems, `${at}.port`, action.port)],
  ['grpc', validateGrpc],
  ['sleep', (problems, action, at) => notNegative(problems, `${at}.seconds`, action.seconds)],
]

function validateHandler(problems: Problems, parent: JsonObject, path: string): void {
  let isSeen = false
  for (const [field, validate] of handlers) {
    const action = parent[field]
    if (!isJsonObject(action)) continue
    if (isSeen) problems.forbidden(`${path}.${field}`, 'may not specify more than 1 handler type')
    else validate(problems, action, `${path}.${field}`)
    isSeen = true
  }
  if (!isSeen) problems.required(path, 'must specify a handler type')
}

function validateExec(problems: Problems, action: JsonObject, path: string): void {
  if (textsAt(action, 'command').length === 0) problems.required(`${path}.command`)
}

function validateHttpGet(problems: Problems, action: JsonObject, path: string): void {
  if (textAt(action, 'path') === '') problems.required(`${path}.path`)
  portOrName(problems, `${path}.port`, action.port)
  problems.oneOf(`${path}.scheme`, action.scheme, ['HTTP', 'HTTPS'])
  for (const [header] of entriesOf(action, 'httpHeaders', '')) {
    const name = textAt(header, 'name')
    if (!/^[-A-Za-z0-9]+$/.test(name)) problems.invalid(`${path}.httpHeaders`, name, headerText)
  }
}

function validateGrpc(problems: Problems, action: JsonObject, path: string): void {
  if (!isPort(action.port)) problems.invalid(`${path}.port`, action.port ?? 0, PORT_RANGE)
}
