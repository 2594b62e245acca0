/** Formats of names, ports, addresses and numbers. The messages are the API server's, which people search for. */
import { isIPv4, isIPv6 } from 'node:net'
import { labelValueProblems, nameProblems, qualifiedNameProblems } from '../../api/object-meta.ts'
import type { JsonValue } from '../../json.ts'
import type { Problems } from './problems.ts'

export { labelValueProblems, nameProblems, qualifiedNameProblems }

export const NOT_NEGATIVE = 'must be greater than or equal to 0'
export const PORT_RANGE = 'must be between 1 and 65535, inclusive'
export const IMMUTABLE = 'field is immutable'

/** Whether `value` is a port number. */
export function isPort(value: JsonValue | undefined): boolean {
  return typeof value === 'number' && value >= 1 && value <= 65_535
}

/** Rejects a number below zero; absent is valid. */
export function notNegative(problems: Problems, field: string, value: JsonValue | undefined): void {
  if (typeof value === 'number' && value < 0) problems.invalid(field, value, NOT_NEGATIVE)
}

/** Errors of a port name; empty when it is valid. */
export function portNameProblems(name: string): string[] {
  const problems: string[] = []
  if (name.length > 15) problems.push('must be no more than 15 characters')
  if (!/^[-a-z0-9]+$/.test(name))
    problems.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)')
  if (!/[a-z]/.test(name)) problems.push('must contain at least one letter (a-z)')
  if (name.includes('--')) problems.push('must not contain consecutive hyphens')
  if (name !== '' && (name.startsWith('-') || name.endsWith('-'))) problems.push('must not begin or end with a hyphen')
  return problems
}

/** Validates a port number or port name. */
export function portOrName(problems: Problems, field: string, value: JsonValue | undefined): void {
  if (typeof value === 'string') problems.invalidAll(field, value, portNameProblems(value))
  else if (!isPort(value)) problems.invalid(field, value ?? 0, PORT_RANGE)
}

const percentText =
  "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')"

/** Validates a number or percentage that must not be negative. */
export function countOrPercent(problems: Problems, field: string, value: JsonValue | undefined): void {
  if (typeof value === 'string') {
    if (!/^[0-9]+%$/.test(value)) problems.invalid(field, value, percentText)
  } else notNegative(problems, field, value)
}

/** Rejects more than 100 %. */
export function atMostAll(problems: Problems, field: string, value: JsonValue | undefined): void {
  const percent = typeof value === 'string' ? /^([0-9]+)%$/.exec(value)?.[1] : undefined
  if (percent !== undefined && Number(percent) > 100) problems.invalid(field, value, 'must not be greater than 100%')
}

/** Whether a number or percentage is zero. */
export function isNone(value: JsonValue | undefined): boolean {
  return value === 0 || (typeof value === 'string' && /^0+%$/.test(value))
}

/** Errors of an IP address; empty when it is valid. */
export function addressProblems(text: string): string[] {
  return isAddress(text) ? [] : ['must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)']
}

function isAddress(text: string): boolean {
  return isIPv4(text) || (isIPv6(text) && !text.includes('%'))
}

/** Errors of an address range; empty when it is valid. */
export function rangeProblems(text: string): string[] {
  const match = /^([^/]+)\/(\d{1,3})$/.exec(text)
  const [, address = '', bits = ''] = match ?? []
  const isValid = isAddress(address) && Number(bits) <= (isIPv4(address) ? 32 : 128)
  return isValid ? [] : ['must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)']
}

/** Errors of an endpoint address; empty when it is valid. */
export function endpointAddressProblems(address: string): string[] {
  if (address === '0.0.0.0' || address === '::') return ['may not be unspecified (0.0.0.0 or ::)']
  if (address.startsWith('127.') || address === '::1')
    return ['may not be in the loopback range (127.0.0.0/8, ::1/128)']
  if (address.startsWith('169.254.') || /^fe[89ab]/i.test(address)) {
    return ['may not be in the link-local range (169.254.0.0/16, fe80::/10)']
  }
  if (address.startsWith('224.0.0.') || /^ff02:/i.test(address)) {
    return ['may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)']
  }
  return []
}

/** Errors of a path that must not contain `..`; empty when it is valid. */
export function backStepProblems(path: string): string[] {
  return path.split('/').includes('..') ? ["must not contain '..'"] : []
}

/** Errors of a relative path in a volume; empty when it is valid. */
export function relativePathProblems(path: string): string[] {
  return [...(path.startsWith('/') ? ['must be a relative path'] : []), ...backStepProblems(path)]
}

const environmentName =
  "a valid environment variable name must consist only of printable ASCII characters other than '='"

/** Errors of an environment variable name; empty when it is valid. */
export function envNameProblems(name: string): string[] {
  return /^[ -<>-~]+$/.test(name) ? [] : [environmentName]
}

const dataKeyText =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"

/** Errors of a key of a ConfigMap or Secret; empty when it is valid. */
export function dataKeyProblems(key: string): string[] {
  const problems = key.length > 253 ? ['must be no more than 253 characters'] : []
  if (!/^[-._a-zA-Z0-9]+$/.test(key)) problems.push(dataKeyText)
  if (key === '.' || key === '..') problems.push(`must not be '${key}'`)
  else if (key.startsWith('..')) problems.push("must not start with '..'")
  return problems
}
