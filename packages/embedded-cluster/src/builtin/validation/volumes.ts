/** Volumes of pods. */

import { parseQuantity } from '../../api/quantity.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../json.ts'
import { validateClaimSpec } from './claims.ts'
import { validateFieldRef, validateResourceRef } from './container-env.ts'
import { backStepProblems, nameProblems, relativePathProblems } from './formats.ts'
import { entriesOf, Problems, textAt } from './problems.ts'

const MAX_MODE = 0o777
const MIN_TOKEN_SECONDS = 600

/** Validates `volumes` of a pod's spec and returns the names of the valid ones, which containers may mount. */
export function validateVolumes(problems: Problems, spec: JsonObject, path: string): ReadonlySet<string> {
  const names = new Set<string>()
  for (const [volume, at] of entriesOf(spec, 'volumes', `${path}.volumes`)) {
    const found = new Problems()
    const name = textAt(volume, 'name')
    validateSources(found, volume, at, podSources)
    if (name === '') found.required(`${at}.name`)
    else found.invalidAll(`${at}.name`, name, nameProblems(name, 'label'))
    if (names.has(name)) found.duplicate(`${at}.name`, name)
    if (found.errors.length === 0) names.add(name)
    problems.add(found.errors)
  }
  return names
}

type ValidateSource = (problems: Problems, source: JsonObject, at: string) => void

/** Validates that there is at most one source, and that source. Returns the number of sources. */
export function validateSources(
  problems: Problems,
  parent: JsonObject,
  path: string,
  sources: Readonly<Record<string, ValidateSource>>,
): number {
  let count = 0
  for (const [field, validate] of Object.entries(sources)) {
    const source = parent[field]
    if (!isJsonObject(source)) continue
    count += 1
    if (count > 1) problems.forbidden(`${path}.${field}`, 'may not specify more than 1 volume type')
    else validate(problems, source, `${path}.${field}`)
  }
  return count
}

const anything: ValidateSource = () => undefined

const podSources: Readonly<Record<string, ValidateSource>> = {
  emptyDir: validateEmptyDir,
  hostPath: validateHostPath,
  gitRepo: (problems, source, at) => requireText(problems, source, at, 'repository'),
  gcePersistentDisk: anything,
  awsElasticBlockStore: anything,
  secret: (problems, source, at) => {
    requireText(problems, source, at, 'secretName')
    validateFiles(problems, source, at)
  },
  nfs: validateNfs,
  iscsi: anything,
  glusterfs: anything,
  flocker: anything,
  persistentVolumeClaim: (problems, source, at) => requireText(problems, source, at, 'claimName'),
  rbd: anything,
  cinder: anything,
  cephfs: anything,
  quobyte: anything,
  downwardAPI: (problems, source, at) => {
    validateMode(problems, `${at}.defaultMode`, source.defaultMode)
    for (const [file] of entriesOf(source, 'items', '')) validateDownwardFile(problems, file, at)
  },
  fc: anything,
  flexVolume: anything,
  configMap: (problems, source, at) => {
    requireText(problems, source, at, 'name')
    validateFiles(problems, source, at)
  },
  azureFile: anything,
  vsphereVolume: anything,
  photonPersistentDisk: anything,
  portworxVolume: anything,
  azureDisk: anything,
  storageos: anything,
  projected: validateProjected,
  scaleIO: anything,
  csi: (problems, source, at) => validateDriverName(problems, textAt(source, 'driver'), `${at}.driver`),
  ephemeral: validateEphemeral,
  image: (problems, source, at) => requireText(problems, source, at, 'reference'),
}

function requireText(problems: Problems, source: JsonObject, path: string, field: string): void {
  if (textAt(source, field) === '') problems.required(`${path}.${field}`)
}

function validateEmptyDir(problems: Problems, source: JsonObject, path: string): void {
  const limit = textAt(source, 'sizeLimit')
  if (limit !== '' && parseQuantity(limit).unscaled < 0n) {
    problems.forbidden(`${path}.sizeLimit`, 'SizeLimit field must be a valid resource quantity')
  }
}

const hostPathTypes = [
  '',
  'BlockDevice',
  'CharDevice',
  'Directory',
  'DirectoryOrCreate',
  'File',
  'FileOrCreate',
  'Socket',
]

/** Validates a host path. */
export function validateHostPath(problems: Problems, source: JsonObject, path: string): void {
  const directory = textAt(source, 'path')
  if (directory === '') {
    problems.required(`${path}.path`)
    return
  }
  problems.invalidAll(`${path}.path`, directory, backStepProblems(directory))
  if (source.type !== undefined) problems.oneOf(`${path}.type`, source.type, hostPathTypes)
}

/** Validates an NFS source. */
export function validateNfs(problems: Problems, source: JsonObject, path: string): void {
  requireText(problems, source, path, 'server')
  requireText(problems, source, path, 'path')
  const directory = textAt(source, 'path')
  if (!directory.startsWith('/')) problems.invalid(`${path}.path`, directory, 'must be an absolute path')
}

const driverText =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"

/** Validates the name of a CSI driver. */
export function validateDriverName(problems: Problems, name: string, path: string): void {
  if (name === '') problems.required(path)
  else if (name.length > 63) problems.tooLong(path, 63)
  else if (nameProblems(name.toLowerCase()).length > 0) problems.invalid(path, name, driverText)
}

function validateMode(problems: Problems, path: string, mode: JsonValue | undefined): void {
  if (typeof mode !== 'number' || (mode >= 0 && mode <= MAX_MODE)) return
  problems.invalid(path, mode, 'must be a number between 0 and 0777 (octal), both inclusive')
}

function validateFiles(problems: Problems, source: JsonObject, path: string): void {
  validateMode(problems, `${path}.defaultMode`, source.defaultMode)
  for (const [item, at] of entriesOf(source, 'items', `${path}.items`)) {
    requireText(problems, item, at, 'key')
    validateFilePath(problems, item, at)
    validateMode(problems, `${at}.mode`, item.mode)
  }
}

function validateFilePath(problems: Problems, item: JsonObject, path: string): void {
  const file = textAt(item, 'path')
  if (file === '') problems.required(`${path}.path`)
  problems.invalidAll(`${path}.path`, file, relativePathProblems(file))
  if (file.startsWith('..') && !file.startsWith('../'))
    problems.invalid(`${path}.path`, file, "must not start with '..'")
}

function validateDownwardFile(problems: Problems, file: JsonObject, path: string): void {
  validateFilePath(problems, file, path)
  const { fieldRef, resourceFieldRef } = file
  if (isJsonObject(fieldRef)) {
    validateFieldRef(problems, fieldRef, `${path}.fieldRef`, 'file')
    if (isJsonObject(resourceFieldRef)) {
      problems.invalid(path, 'resource', 'fieldRef and resourceFieldRef can not be specified simultaneously')
    }
  } else if (isJsonObject(resourceFieldRef)) {
    validateResourceRef(problems, resourceFieldRef, `${path}.resourceFieldRef`, 'file')
  } else problems.required(path, 'one of fieldRef and resourceFieldRef is required')
  validateMode(problems, `${path}.mode`, file.mode)
}

function validateProjected(problems: Problems, volume: JsonObject, path: string): void {
  validateMode(problems, `${path}.defaultMode`, volume.defaultMode)
  for (const [source, at] of entriesOf(volume, 'sources', `${path}.sources`)) {
    let count = 0
    for (const field of ['secret', 'configMap']) {
      const part = source[field]
      if (!isJsonObject(part)) continue
      count += 1
      requireText(problems, part, `${at}.${field}`, 'name')
      validateFiles(problems, part, `${at}.${field}`)
    }
    if (isJsonObject(source.downwardAPI)) {
      count += 1
      for (const [file] of entriesOf(source.downwardAPI, 'items', ''))
        validateDownwardFile(problems, file, `${at}.downwardAPI`)
    }
    if (isJsonObject(source.serviceAccountToken)) {
      count += 1
      validateToken(problems, source.serviceAccountToken, `${at}.serviceAccountToken`, path)
    }
    if (count > 1) problems.forbidden(at, 'may not specify more than 1 volume type per source')
  }
}

function validateToken(problems: Problems, token: JsonObject, path: string, volumePath: string): void {
  const seconds = token.expirationSeconds
  if (typeof seconds === 'number' && seconds < MIN_TOKEN_SECONDS) {
    problems.invalid(`${path}.expirationSeconds`, seconds, 'may not specify a duration less than 10 minutes')
  }
  if (typeof seconds === 'number' && seconds > 2 ** 32) {
    problems.invalid(`${path}.expirationSeconds`, seconds, 'may not specify a duration larger than 2^32 seconds')
  }
  const file = textAt(token, 'path')
  if (file === '') problems.required(`${volumePath}.path`)
  else problems.invalidAll(`${volumePath}.path`, file, relativePathProblems(file))
}

function validateEphemeral(problems: Problems, source: JsonObject, path: string): void {
  const template = source.volumeClaimTemplate
  if (!isJsonObject(template)) problems.required(`${path}.volumeClaimTemplate`)
  else if (isJsonObject(template.spec)) validateClaimSpec(problems, template.spec, `${path}.volumeClaimTemplate.spec`)
}
