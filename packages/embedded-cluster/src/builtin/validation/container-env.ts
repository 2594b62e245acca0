/** Environment variables of containers and their sources. */
import { isJsonObject, type JsonObject } from '../../json.ts'
import { dataKeyProblems, envNameProblems, nameProblems, qualifiedNameProblems } from './formats.ts'
import { entriesOf, type Problems, textAt } from './problems.ts'

const fieldsForVariables = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
]
const fieldsForFiles = [
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
]
const knownFields = new Set([...fieldsForVariables, ...fieldsForFiles])
const resourceFields = [
  'limits.cpu',
  'limits.ephemeral-storage',
  'limits.memory',
  'requests.cpu',
  'requests.ephemeral-storage',
  'requests.memory',
]

/** Validates `env` and `envFrom` of a container. */
export function validateContainerEnv(problems: Problems, container: JsonObject, path: string): void {
  for (const [variable, at] of entriesOf(container, 'env', `${path}.env`)) {
    const name = textAt(variable, 'name')
    if (name === '') problems.required(`${at}.name`)
    else problems.invalidAll(`${at}.name`, name, envNameProblems(name))
    if (isJsonObject(variable.valueFrom)) validateSource(problems, variable, variable.valueFrom, `${at}.valueFrom`)
  }
  for (const [source, at] of entriesOf(container, 'envFrom', `${path}.envFrom`)) {
    validateWholeSource(problems, source, at, `${path}.envFrom`)
  }
}

function validateSource(problems: Problems, variable: JsonObject, source: JsonObject, path: string): void {
  let count = 0
  const visit = (field: string, validate: (value: JsonObject, at: string) => void) => {
    const value = source[field]
    if (!isJsonObject(value)) return
    count += 1
    validate(value, `${path}.${field}`)
  }
  visit('fieldRef', (ref, at) => validateFieldRef(problems, ref, at, 'variable'))
  visit('resourceFieldRef', (ref, at) => validateResourceRef(problems, ref, at, 'variable'))
  for (const field of ['configMapKeyRef', 'secretKeyRef']) visit(field, (ref, at) => validateKeyRef(problems, ref, at))
  visit('fileKeyRef', () => undefined)
  if (count === 0) {
    const choices = '`fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`'
    problems.invalid(path, '', `must specify one of: ${choices}`)
  } else if (textAt(variable, 'value') !== '') {
    problems.invalid(path, '', 'may not be specified when `value` is not empty')
  } else if (count > 1) problems.invalid(path, '', 'may not have more than one field specified at a time')
}

function validateKeyRef(problems: Problems, ref: JsonObject, path: string): void {
  const key = textAt(ref, 'key')
  if (textAt(ref, 'name') === '') problems.required(`${path}.name`)
  if (key === '') problems.required(`${path}.key`)
  else problems.invalidAll(`${path}.key`, key, dataKeyProblems(key))
}

/** Validates a reference to a field of the pod itself; files may contain whole maps, variables single values. */
export function validateFieldRef(problems: Problems, ref: JsonObject, path: string, use: 'variable' | 'file'): void {
  const fieldPath = textAt(ref, 'fieldPath')
  if (fieldPath === '') {
    problems.required(`${path}.fieldPath`)
    return
  }
  const [, map, key] = /^(metadata\.labels|metadata\.annotations)\['(.*)'\]$/.exec(fieldPath) ?? []
  if (map !== undefined && key !== undefined) {
    problems.invalidAll(path, key, qualifiedNameProblems(map === 'metadata.labels' ? key : key.toLowerCase()))
  } else if (!knownFields.has(fieldPath)) {
    const why = `error converting fieldPath: field label not supported: ${fieldPath}`
    problems.invalid(`${path}.fieldPath`, fieldPath, why)
  } else problems.oneOf(`${path}.fieldPath`, fieldPath, use === 'variable' ? fieldsForVariables : fieldsForFiles)
}

/** Validates a reference to a container's resources. */
export function validateResourceRef(problems: Problems, ref: JsonObject, path: string, use: 'variable' | 'file'): void {
  const resource = textAt(ref, 'resource')
  if (use === 'file' && textAt(ref, 'containerName') === '') problems.required(`${path}.containerName`)
  else if (resource === '') problems.required(`${path}.resource`)
  else if (!/^(limits|requests)\.hugepages-/.test(resource))
    problems.oneOf(`${path}.resource`, resource, resourceFields)
}

function validateWholeSource(problems: Problems, source: JsonObject, path: string, listPath: string): void {
  const prefix = textAt(source, 'prefix')
  if (prefix !== '') problems.invalidAll(`${path}.prefix`, prefix, envNameProblems(prefix))
  const present = ['configMapRef', 'secretRef'].filter((field) => isJsonObject(source[field]))
  for (const field of present) {
    const ref = source[field]
    if (!isJsonObject(ref)) continue
    const name = textAt(ref, 'name')
    if (name === '') problems.required(`${path}.${field}.name`)
    else problems.invalidAll(`${path}.${field}.name`, name, nameProblems(name))
  }
  if (present.length === 0) problems.invalid(listPath, '', 'must specify one of: `configMapRef` or `secretRef`')
  if (present.length > 1) problems.invalid(listPath, '', 'may not have more than one field specified at a time')
}
