/** Validates the `spec.conversion` of a CustomResourceDefinition. */

import { nameProblems } from '../api/object-meta.ts'
import { isJsonObject, type JsonObject, objectAt, stringAt } from '../json.ts'
import { forbidden, invalid, notSupported, required } from '../schema/field-error.ts'
import type { FieldError } from '../status-error.ts'
import { stringsAt } from './definition.ts'

const reviewVersions = ['v1', 'v1beta1']

/** Errors of `spec.conversion`, reported under `field`. */
export function validateConversion(conversion: JsonObject, field: string): FieldError[] {
  const strategy = stringAt(conversion, 'strategy') ?? ''
  if (strategy === '') return [required(`${field}.strategy`)]
  const webhook = objectAt(conversion, 'webhook')
  if (strategy === 'None') return validateNone(webhook, field)
  if (strategy !== 'Webhook') return [notSupported(`${field}.strategy`, strategy, ['None', 'Webhook'])]
  const clientField = `${field}.webhookClientConfig`
  const { clientConfig } = webhook
  return [
    ...(isJsonObject(clientConfig)
      ? validateClientConfig(clientConfig, clientField)
      : [required(clientField, 'required when strategy is set to Webhook')]),
    ...validateReviewVersions(stringsAt(webhook, 'conversionReviewVersions'), `${field}.conversionReviewVersions`),
  ]
}

function validateNone(webhook: JsonObject, field: string): FieldError[] {
  const errors: FieldError[] = []
  const why = 'should not be set when strategy is not set to Webhook'
  if (isJsonObject(webhook.clientConfig)) errors.push(forbidden(`${field}.webhookClientConfig`, why))
  if (stringsAt(webhook, 'conversionReviewVersions').length > 0) {
    errors.push(forbidden(`${field}.conversionReviewVersions`, why))
  }
  return errors
}

function validateClientConfig(config: JsonObject, field: string): FieldError[] {
  const url = stringAt(config, 'url')
  const { service } = config
  if ((url === undefined) === !isJsonObject(service))
    return [required(field, 'exactly one of url or service is required')]
  return url === undefined
    ? validateService(objectAt(config, 'service'), `${field}.service`)
    : validateUrl(url, `${field}.url`)
}

function validateUrl(text: string, field: string): FieldError[] {
  const form = 'desired format: https://host[/path]'
  const url = URL.parse(text)
  if (url === null) return [required(field, `url must be a valid URL; ${form}`)]
  const errors: FieldError[] = []
  const scheme = url.protocol.slice(0, -1)
  if (scheme !== 'https') errors.push(invalid(field, scheme, `'https' is the only allowed URL scheme; ${form}`))
  if (url.host === '') errors.push(invalid(field, url.host, `host must be specified; ${form}`))
  if (url.username !== '') errors.push(invalid(field, url.username, 'user information is not permitted in the URL'))
  if (url.hash !== '') errors.push(invalid(field, url.hash, 'fragments are not permitted in the URL'))
  if (url.search !== '') errors.push(invalid(field, url.search, 'query parameters are not permitted in the URL'))
  return errors
}

function validateService(service: JsonObject, field: string): FieldError[] {
  const errors: FieldError[] = []
  if ((stringAt(service, 'name') ?? '') === '') errors.push(required(`${field}.name`))
  if ((stringAt(service, 'namespace') ?? '') === '') errors.push(required(`${field}.namespace`))
  const { port } = service
  if (port !== undefined && (typeof port !== 'number' || port < 1 || port > 65535)) {
    errors.push(invalid(`${field}.port`, port, 'port is not valid: must be between 1 and 65535, inclusive'))
  }
  const path = stringAt(service, 'path')
  return path === undefined ? errors : [...errors, ...validateServicePath(path, `${field}.path`)]
}

function validateServicePath(path: string, field: string): FieldError[] {
  if (path === '' || path === '/') return []
  if (path === '//') return [invalid(field, path, 'segment[0] may not be empty')]
  const errors: FieldError[] = []
  if (!path.startsWith('/')) errors.push(invalid(field, path, "must start with a '/'"))
  const segments = path.replace(/^\//, '').replace(/\/$/, '').split('/')
  for (const [index, segment] of segments.entries()) {
    if (segment === '') {
      errors.push(invalid(field, path, `segment[${index}] may not be empty`))
      continue
    }
    for (const why of nameProblems(segment)) errors.push(invalid(field, path, `segment[${index}]: ${why}`))
  }
  return errors
}

function validateReviewVersions(versions: readonly string[], field: string): FieldError[] {
  if (versions.length === 0) return [required(field)]
  const errors: FieldError[] = []
  const seen = new Set<string>()
  for (const [index, version] of versions.entries()) {
    const path = `${field}[${index}]`
    if (seen.has(version)) errors.push(invalid(path, version, 'duplicate version'))
    for (const why of nameProblems(version, 'service')) errors.push(invalid(path, version, why))
    seen.add(version)
  }
  if (errors.length === 0 && !versions.some((version) => reviewVersions.includes(version))) {
    errors.push(invalid(field, [...versions], `must include at least one of ${reviewVersions.join(', ')}`))
  }
  return errors
}
