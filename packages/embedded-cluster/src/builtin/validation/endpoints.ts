/** Endpoints and EndpointSlices. */
import { arrayAt, type JsonObject } from '../../json.ts'
import type { FieldError } from '../../status-error.ts'
import { addressProblems, endpointAddressProblems, IMMUTABLE, isPort, nameProblems, PORT_RANGE } from './formats.ts'
import { entriesOf, Problems, textAt, textsAt } from './problems.ts'

const protocols = ['SCTP', 'TCP', 'UDP']
const MAX_ENDPOINTS = 1000

/** Validates Endpoints. */
export function validateEndpoints(object: JsonObject): readonly FieldError[] {
  const problems = new Problems()
  for (const [subset, at] of entriesOf(object, 'subsets', 'subsets')) {
    const hasAddresses = arrayAt(subset, 'addresses').length + arrayAt(subset, 'notReadyAddresses').length > 0
    if (!hasAddresses) problems.required(at, 'must specify `addresses` or `notReadyAddresses`')
    for (const field of ['addresses', 'notReadyAddresses']) {
      for (const [address, addressAt] of entriesOf(subset, field, `${at}.${field}`)) {
        const ip = textAt(address, 'ip')
        const why = addressProblems(ip)
        problems.invalidAll(`${addressAt}.ip`, ip, why)
        // The server validates the address twice, and reports it twice.
        problems.invalidAll(
          `${addressAt}.ip`,
          ip,
          why.length > 0 ? ['must be a valid IP address'] : endpointAddressProblems(ip),
        )
      }
    }
    const needsNames = arrayAt(subset, 'ports').length > 1
    for (const [port, portAt] of entriesOf(subset, 'ports', `${at}.ports`)) {
      const name = textAt(port, 'name')
      if (name === '' && needsNames) problems.required(`${portAt}.name`)
      else if (name !== '') problems.invalidAll(`${portAt}.name`, name, nameProblems(name, 'label'))
      if (!isPort(port.port)) problems.invalid(`${portAt}.port`, port.port ?? 0, PORT_RANGE)
      problems.oneOf(`${portAt}.protocol`, port.protocol, protocols)
    }
  }
  return problems.errors
}

/** Validates an EndpointSlice. */
export function validateEndpointSlice(object: JsonObject, old: JsonObject | undefined): readonly FieldError[] {
  const problems = new Problems()
  const family = textAt(object, 'addressType')
  if (family === '') problems.required('addressType')
  else problems.oneOf('addressType', family, ['FQDN', 'IPv4', 'IPv6'])
  if (old !== undefined && family !== old.addressType) problems.invalid('addressType', family, IMMUTABLE)
  const count = arrayAt(object, 'endpoints').length
  if (count > MAX_ENDPOINTS) {
    const message = `Too many: ${count}: must have at most ${MAX_ENDPOINTS} items`
    problems.errors.push({ field: 'endpoints', reason: 'FieldValueTooMany', message })
  }
  for (const [endpoint, at] of entriesOf(object, 'endpoints', 'endpoints')) {
    const addresses = textsAt(endpoint, 'addresses')
    if (addresses.length === 0) problems.required(`${at}.addresses`, 'must contain at least 1 address')
    for (const [index, address] of addresses.entries()) {
      const why = family === 'FQDN' ? nameProblems(address) : addressProblems(address)
      const more = why.length > 0 || family === 'FQDN' ? [] : endpointAddressProblems(address)
      problems.invalidAll(`${at}.addresses[${index}]`, address, [...why, ...more])
    }
  }
  const names = new Set<string>()
  for (const [port, at] of entriesOf(object, 'ports', 'ports')) {
    const name = textAt(port, 'name')
    if (name !== '') problems.invalidAll(`${at}.name`, name, nameProblems(name, 'label'))
    if (names.has(name)) problems.duplicate(`${at}.name`, name)
    names.add(name)
    problems.oneOf(`${at}.protocol`, port.protocol, protocols)
  }
  return problems.errors
}
