/** PersistentVolumeClaims and claim templates. */

import { compareQuantities, parseQuantity, type Quantity } from '../../api/quantity.ts'
import { isJsonObject, type JsonObject, jsonEqual, objectAt } from '../../json.ts'
import { nameProblems } from './formats.ts'
import { validateSelector } from './label-selectors.ts'
import { type Problems, textAt, textsAt } from './problems.ts'

const accessModes = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod']
export const volumeModes = ['Block', 'Filesystem']

/** Validates the spec of a claim. */
export function validateClaimSpec(problems: Problems, spec: JsonObject, path: string): void {
  const modes = textsAt(spec, 'accessModes')
  if (modes.length === 0) problems.required(`${path}.accessModes`, 'at least 1 access mode is required')
  validateSelector(problems, spec.selector, `${path}.selector`)
  validateAccessModes(problems, modes, `${path}.accessModes`)
  validateSize(problems, spec, path)
  const className = textAt(spec, 'storageClassName')
  if (className !== '') problems.invalidAll(`${path}.storageClassName`, className, nameProblems(className))
  if (spec.volumeMode !== undefined) problems.oneOf(`${path}.volumeMode`, spec.volumeMode, volumeModes)
  validateSource(problems, spec, path)
}

/** Validates access modes of a claim or volume. */
export function validateAccessModes(problems: Problems, modes: readonly string[], path: string): void {
  for (const mode of modes) problems.oneOf(path, mode, accessModes)
  if (modes.includes('ReadWriteOncePod') && modes.length > 1) {
    problems.forbidden(path, 'may not use ReadWriteOncePod with other access modes')
  }
}

function validateSize(problems: Problems, spec: JsonObject, path: string): void {
  const size = textAt(objectAt(objectAt(spec, 'resources'), 'requests'), 'storage')
  const at = `${path}.resources[storage]`
  if (size === '') problems.required(at)
  else if (parseQuantity(size).unscaled <= 0n) problems.invalid(at, size, 'must be greater than zero')
}

function validateSource(problems: Problems, spec: JsonObject, path: string): void {
  for (const field of ['dataSource', 'dataSourceRef']) {
    const source = spec[field]
    if (!isJsonObject(source)) continue
    for (const part of ['name', 'kind']) if (textAt(source, part) === '') problems.required(`${path}.${field}.${part}`)
    const isCore = textAt(source, 'apiGroup') === ''
    if (isCore && textAt(source, 'kind') !== 'PersistentVolumeClaim') {
      problems.invalid(`${path}.${field}`, textAt(source, 'kind'), '')
    }
  }
  const { dataSource, dataSourceRef } = spec
  if (isJsonObject(dataSource) && isJsonObject(dataSourceRef) && dataSourceRef.namespace === undefined) {
    if (!jsonEqual(withoutNull(dataSource), withoutNull(dataSourceRef))) {
      problems.invalidStruct(path, {}, 'must match dataSourceRef')
    }
  }
}

function withoutNull(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null && value !== ''))
}

const whatMayChange =
  'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims'

/** Validates an update of a claim: a bound claim may grow, everything else is immutable. */
export function validateClaimUpdate(problems: Problems, object: JsonObject, old: JsonObject): void {
  const spec = objectAt(object, 'spec')
  const before = objectAt(old, 'spec')
  const isBound = objectAt(old, 'status').phase === 'Bound'
  const hasVolume = textAt(before, 'volumeName') !== ''
  // A controller sets the volume after the claim was created; a claim without a class may get one later.
  const allowed: JsonObject = { ...before }
  if (!hasVolume && spec.volumeName !== undefined) allowed.volumeName = spec.volumeName
  if (before.storageClassName === undefined && spec.storageClassName !== undefined) {
    allowed.storageClassName = spec.storageClassName
  }
  if (isBound) {
    allowed.resources = {
      ...objectAt(before, 'resources'),
      requests: objectAt(objectAt(spec, 'resources'), 'requests'),
    }
    if (spec.volumeAttributesClassName !== undefined) allowed.volumeAttributesClassName = spec.volumeAttributesClassName
  }
  if (!jsonEqual(spec, allowed)) problems.forbidden('spec', whatMayChange)
  const [size, previous] = [sizeOf(spec), sizeOf(before)]
  const capacity = parseQuantity(textAt(objectAt(objectAt(old, 'status'), 'capacity'), 'storage') || '0')
  if (compareQuantities(size, previous) < 0 && compareQuantities(size, capacity) <= 0) {
    problems.forbidden('spec.resources.requests.storage', 'field can not be less than status.capacity')
  }
}

function sizeOf(spec: JsonObject): Quantity {
  return parseQuantity(textAt(objectAt(objectAt(spec, 'resources'), 'requests'), 'storage') || '0')
}
