/** Updates of an existing pod. */
import { arrayAt, isJsonObject, type JsonObject, jsonEqual } from '../../json.ts'
import { entriesOf, type Problems, textAt } from './problems.ts'

const MAX_DEADLINE = 2_147_483_647
const updatable = [
  '`spec.containers[*].image`',
  '`spec.initContainers[*].image`',
  '`spec.activeDeadlineSeconds`',
  '`spec.tolerations` (only additions to existing tolerations)',
  '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
].join(',')

/** Validates an update of a pod's spec. */
export function validatePodUpdate(problems: Problems, spec: JsonObject, before: JsonObject): void {
  for (const field of ['containers', 'initContainers']) {
    if (!validateContainerUpdates(problems, spec, before, field)) return
  }
  if (!validateDeadline(problems, spec, before)) return
  validateAddedTolerations(problems, spec, before)
  validateRemovedGates(problems, spec, before)
  if (!jsonEqual(withOldParts(spec, before), before)) {
    problems.forbidden('spec', `pod updates may not change fields other than ${updatable}\n`)
  }
}

function validateContainerUpdates(problems: Problems, spec: JsonObject, before: JsonObject, field: string): boolean {
  if (arrayAt(spec, field).length !== arrayAt(before, field).length) {
    problems.forbidden(`spec.${field}`, 'pod updates may not add or remove containers')
    return false
  }
  for (const [container, at] of entriesOf(spec, field, `spec.${field}`)) {
    const image = textAt(container, 'image')
    if (image === '') problems.required(`${at}.image`)
    else if (image !== image.trim()) {
      problems.invalid(`${at}.image`, image, 'must not have leading or trailing whitespace')
    }
  }
  return true
}

function validateDeadline(problems: Problems, spec: JsonObject, before: JsonObject): boolean {
  const at = 'spec.activeDeadlineSeconds'
  const [now, old] = [spec.activeDeadlineSeconds, before.activeDeadlineSeconds]
  if (typeof now === 'number') {
    if (now < 0 || now > MAX_DEADLINE) {
      problems.invalid(at, now, `must be between 0 and ${MAX_DEADLINE}, inclusive`)
      return false
    }
    if (typeof old === 'number' && old < now) {
      problems.invalid(at, now, 'must be less than or equal to previous value')
      return false
    }
  } else if (typeof old === 'number') {
    problems.invalid(at, null, 'must not update from a positive integer to nil value')
  }
  return true
}

function validateAddedTolerations(problems: Problems, spec: JsonObject, before: JsonObject): void {
  const now = arrayAt(spec, 'tolerations')
  const withoutTime = (value: unknown) => (isJsonObject(value) ? { ...value, tolerationSeconds: undefined } : null)
  for (const old of arrayAt(before, 'tolerations')) {
    if (now.some((toleration) => jsonEqual(withoutTime(toleration), withoutTime(old)))) continue
    problems.forbidden('spec.tolerations', 'existing toleration can not be modified except its tolerationSeconds')
    return
  }
}

function validateRemovedGates(problems: Problems, spec: JsonObject, before: JsonObject): void {
  const old = arrayAt(before, 'schedulingGates')
  for (const [gate, at] of entriesOf(spec, 'schedulingGates', 'spec.schedulingGates')) {
    if (old.some((known) => jsonEqual(known, gate))) continue
    problems.forbidden(at, `only deletion is allowed, but found new scheduling gate '${textAt(gate, 'name')}'`)
  }
}

/** The new spec with all mutable fields reset to the old ones. */
function withOldParts(spec: JsonObject, before: JsonObject): JsonObject {
  const images = (field: string) => {
    const old = arrayAt(before, field)
    return arrayAt(spec, field).map((container, index) => {
      const previous = old[index]
      return isJsonObject(container) && isJsonObject(previous) ? { ...container, image: previous.image } : container
    })
  }
  const restored: JsonObject = {
    ...spec,
    containers: images('containers'),
    activeDeadlineSeconds: before.activeDeadlineSeconds,
    tolerations: before.tolerations,
    schedulingGates: before.schedulingGates,
  }
  if (spec.initContainers !== undefined) restored.initContainers = images('initContainers')
  const [now, old] = [spec.terminationGracePeriodSeconds, before.terminationGracePeriodSeconds]
  if (typeof old === 'number' && old < 0 && now === 1) restored.terminationGracePeriodSeconds = old
  if (arrayAt(before, 'schedulingGates').length > 0) {
    // Before it is scheduled, the node selection of a pod may still change.
    restored.nodeSelector = before.nodeSelector
    restored.affinity = before.affinity
  }
  return restored
}
