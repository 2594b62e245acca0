/** The status of a Pod, as reported by its kubelet. */
import { isIPv4 } from 'node:net'
import { arrayAt, isJsonObject, type JsonObject, objectAt } from '../../json.ts'
import type { FieldError } from '../../status-error.ts'
import { addressProblems, IMMUTABLE, nameProblems, qualifiedNameProblems } from './formats.ts'
import { entriesOf, Problems, textAt } from './problems.ts'

/** Validates a Pod's status. */
export function validatePodStatus(object: JsonObject, old: JsonObject): readonly FieldError[] {
  const problems = new Problems()
  const spec = objectAt(object, 'spec')
  const status = objectAt(object, 'status')
  const before = objectAt(old, 'status')
  for (const [condition, at] of entriesOf(status, 'conditions', 'status.conditions')) {
    const type = textAt(condition, 'type')
    problems.invalidAll(`${at}.Type`, type, qualifiedNameProblems(type))
  }
  const node = textAt(status, 'nominatedNodeName')
  if (node !== '') problems.invalidAll('status.nominatedNodeName', node, nameProblems(node))
  if (Number(status.observedGeneration ?? 0) < 0) {
    problems.invalid('status.observedGeneration', status.observedGeneration, 'must be a non-negative integer')
  }
  if (textAt(status, 'qosClass') !== textAt(before, 'qosClass')) {
    problems.invalid('status.qosClass', textAt(status, 'qosClass'), IMMUTABLE)
  }
  validateRestarts(problems, spec, status, before)
  validateClaimStatuses(problems, spec, status)
  validateAddresses(problems, status)
  return problems.errors
}

/** A container that terminated for good must not run again. */
function validateRestarts(problems: Problems, spec: JsonObject, status: JsonObject, before: JsonObject): void {
  const policy = textAt(spec, 'restartPolicy')
  if (policy === 'Always') return
  const previous = new Map([...entriesOf(before, 'containerStatuses', '')].map(([item]) => [item.name, item]))
  for (const [container, at] of entriesOf(status, 'containerStatuses', 'status.containerStatuses')) {
    const { terminated } = objectAt(previous.get(container.name), 'state')
    if (!isJsonObject(terminated) || isJsonObject(objectAt(container, 'state').terminated)) continue
    if (policy === 'OnFailure' && terminated.exitCode !== 0) continue
    problems.forbidden(`${at}.state`, 'may not be transitioned to non-terminated state')
  }
}

function validateClaimStatuses(problems: Problems, spec: JsonObject, status: JsonObject): void {
  const claims = new Set([...entriesOf(spec, 'resourceClaims', '')].map(([claim]) => claim.name))
  for (const [claim, at] of entriesOf(status, 'resourceClaimStatuses', 'status.resourceClaimStatuses')) {
    if (claims.has(claim.name)) continue
    problems.invalid(`${at}.name`, claim.name, 'must match the name of an entry in `spec.resourceClaims`')
  }
}

function validateAddresses(problems: Problems, status: JsonObject): void {
  const [first] = arrayAt(status, 'hostIPs')
  if (isJsonObject(first) && first.ip !== status.hostIP) {
    problems.invalid('status.hostIPs[0].ip', first.ip, 'must be equal to `hostIP`')
  }
  for (const list of ['hostIPs', 'podIPs']) validateFamilies(problems, status, list)
}

function validateFamilies(problems: Problems, status: JsonObject, list: string): void {
  const found = new Problems()
  const addresses: string[] = []
  for (const [entry, at] of entriesOf(status, list, `status.${list}`)) {
    const ip = textAt(entry, 'ip')
    addresses.push(ip)
    found.invalidAll(at, ip, addressProblems(ip))
  }
  problems.add(found.errors)
  if (found.errors.length > 0 || addresses.length < 2) return
  const isDual = addresses.length === 2 && addresses.filter(isIPv4).length === 1
  if (isDual) return
  const shown = addresses.map((IP) => ({ IP }))
  problems.invalid(`status.${list}`, shown, 'may specify no more than one IP for each IP family')
}
