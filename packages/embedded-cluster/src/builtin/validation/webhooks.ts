/** Webhook configurations. */
import { parse } from '@marcbachmann/cel-js'
import { isJsonObject, type JsonObject, objectAt } from '../../json.ts'
import type { FieldError } from '../../status-error.ts'
import { isPort, nameProblems, PORT_RANGE, qualifiedNameProblems } from './formats.ts'
import { validateSelector } from './label-selectors.ts'
import { entriesOf, Problems, textAt, textsAt } from './problems.ts'

const MAX_TIMEOUT_SECONDS = 30
const urlForm = '; desired format: https://host[/path]'

/** Validates a MutatingWebhookConfiguration or ValidatingWebhookConfiguration. */
export function validateWebhooks(object: JsonObject): readonly FieldError[] {
  const problems = new Problems()
  const names = new Set<string>()
  for (const [webhook, at] of entriesOf(object, 'webhooks', 'webhooks')) {
    validateWebhook(problems, webhook, at)
    const name = textAt(webhook, 'name')
    if (name !== '' && names.has(name)) problems.duplicate(`${at}.name`, name)
    names.add(name)
    validateVersions(problems, webhook, `${at}.admissionReviewVersions`)
    if (object.kind !== 'MutatingWebhookConfiguration') continue
    problems.oneOf(`${at}.reinvocationPolicy`, webhook.reinvocationPolicy, ['IfNeeded', 'Never'])
  }
  return problems.errors
}

function validateWebhook(problems: Problems, webhook: JsonObject, path: string): void {
  const name = textAt(webhook, 'name')
  const why = nameProblems(name)
  if (name === '') problems.required(`${path}.name`)
  else if (why.length > 0) problems.invalidAll(`${path}.name`, name, why)
  else if (name.split('.').length < 3) {
    problems.invalid(`${path}.name`, name, 'should be a domain with at least three segments separated by dots')
  }
  for (const [rule, at] of entriesOf(webhook, 'rules', `${path}.rules`)) validateRule(problems, rule, at)
  problems.oneOf(`${path}.failurePolicy`, webhook.failurePolicy, ['Fail', 'Ignore'])
  problems.oneOf(`${path}.matchPolicy`, webhook.matchPolicy, ['Equivalent', 'Exact'])
  const effects = ['None', 'NoneOnDryRun']
  if (typeof webhook.sideEffects !== 'string') {
    problems.required(`${path}.sideEffects`, `must specify one of ${effects.join(', ')}`)
  } else problems.oneOf(`${path}.sideEffects`, webhook.sideEffects, effects)
  const seconds = Number(webhook.timeoutSeconds)
  if (seconds < 1 || seconds > MAX_TIMEOUT_SECONDS) {
    const range = `between 1 and ${MAX_TIMEOUT_SECONDS} seconds`
    problems.invalid(`${path}.timeoutSeconds`, webhook.timeoutSeconds, `the timeout value must be ${range}`)
  }
  for (const field of ['namespaceSelector', 'objectSelector']) {
    validateSelector(problems, webhook[field], `${path}.${field}`)
  }
  validateClientConfig(problems, objectAt(webhook, 'clientConfig'), `${path}.clientConfig`)
  validateConditions(problems, webhook, `${path}.matchConditions`)
}

function validateVersions(problems: Problems, webhook: JsonObject, path: string): void {
  const versions = textsAt(webhook, 'admissionReviewVersions')
  const known = ['v1', 'v1beta1']
  if (versions.length === 0) {
    problems.required(path, `must specify one of ${known.join(', ')}`)
    return
  }
  const seen = new Set<string>()
  for (const [index, version] of versions.entries()) {
    if (seen.has(version)) problems.invalid(`${path}[${index}]`, version, 'duplicate version')
    else problems.invalidAll(`${path}[${index}]`, version, nameProblems(version, 'service'))
    seen.add(version)
  }
  if (!versions.some((version) => known.includes(version))) {
    problems.invalid(path, versions, `must include at least one of ${known.join(', ')}`)
  }
}

/** Validates a rule of a webhook or policy. */
export function validateRule(problems: Problems, rule: JsonObject, path: string): void {
  const operations = textsAt(rule, 'operations')
  if (operations.length === 0) problems.required(`${path}.operations`)
  refuseStarWithOthers(problems, `${path}.operations`, operations, 'operations')
  for (const [index, operation] of operations.entries()) {
    problems.oneOf(`${path}.operations[${index}]`, operation, ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'])
  }
  for (const [field, words] of [
    ['apiGroups', 'API groups'],
    ['apiVersions', 'API versions'],
  ] as const) {
    const values = textsAt(rule, field)
    if (values.length === 0) problems.required(`${path}.${field}`)
    refuseStarWithOthers(problems, `${path}.${field}`, values, words)
  }
  for (const [index, version] of textsAt(rule, 'apiVersions').entries()) {
    if (version === '') problems.required(`${path}.apiVersions[${index}]`)
  }
  validateResources(problems, textsAt(rule, 'resources'), `${path}.resources`)
  problems.oneOf(`${path}.scope`, rule.scope, ['*', 'Cluster', 'Namespaced'])
}

function refuseStarWithOthers(problems: Problems, path: string, values: readonly string[], words: string): void {
  if (values.length < 2 || !values.includes('*')) return
  problems.invalid(path, [...values], `if '*' is present, must not specify other ${words}`)
}

function validateResources(problems: Problems, resources: readonly string[], path: string): void {
  if (resources.length === 0) problems.required(path)
  const wholeResources = new Set<string>()
  const wholeSubresources = new Set<string>()
  for (const [index, name] of resources.entries()) {
    const at = `${path}[${index}]`
    if (name === '') problems.required(at)
    const slash = name.indexOf('/')
    if (slash < 0) continue
    const [resource, sub] = [name.slice(0, slash), name.slice(slash + 1)]
    if (wholeResources.has(resource))
      problems.invalid(at, name, `if '${resource}/*' is present, must not specify ${name}`)
    if (wholeSubresources.has(sub)) problems.invalid(at, name, `if '*/${sub}' is present, must not specify ${name}`)
    if (sub === '*') wholeResources.add(resource)
    if (resource === '*') wholeSubresources.add(sub)
  }
  if (resources.length > 1 && resources.includes('*/*')) {
    problems.invalid(path, [...resources], "if '*/*' is present, must not specify other resources")
  }
  const plain = resources.filter((name) => name !== '*' && !name.includes('/'))
  if (resources.includes('*') && plain.length > 0) {
    const why = "if '*' is present, must not specify other resources without subresources"
    problems.invalid(path, [...resources], why)
  }
}

function validateClientConfig(problems: Problems, config: JsonObject, path: string): void {
  const { url, service } = config
  const hasUrl = typeof url === 'string'
  if (hasUrl === isJsonObject(service)) problems.required(path, 'exactly one of url or service is required')
  else if (hasUrl) validateUrl(problems, url, `${path}.url`)
  else if (isJsonObject(service)) validateServiceReference(problems, service, `${path}.service`)
}

function validateUrl(problems: Problems, text: string, path: string): void {
  const [, scheme = '', rest = ''] = /^(?:([a-zA-Z][a-zA-Z0-9+.-]*):)?(.*)$/s.exec(text) ?? []
  const [, authority = '', query = '', fragment = ''] =
    /^(?:\/\/([^/?#]*))?[^?#]*(?:\?([^#]*))?(?:#(.*))?$/s.exec(rest) ?? []
  const at = authority.lastIndexOf('@')
  const host = authority.slice(at + 1)
  if (scheme !== 'https') problems.invalid(path, scheme, `'https' is the only allowed URL scheme${urlForm}`)
  if (host === '') problems.invalid(path, host, `host must be specified${urlForm}`)
  if (at >= 0) problems.invalid(path, authority.slice(0, at), 'user information is not permitted in the URL')
  if (fragment !== '') problems.invalid(path, fragment, 'fragments are not permitted in the URL')
  if (query !== '') problems.invalid(path, query, 'query parameters are not permitted in the URL')
}

function validateServiceReference(problems: Problems, service: JsonObject, path: string): void {
  for (const field of ['name', 'namespace']) if (textAt(service, field) === '') problems.required(`${path}.${field}`)
  if (!isPort(service.port)) problems.invalid(`${path}.port`, service.port ?? 0, `port is not valid: ${PORT_RANGE}`)
  const urlPath = textAt(service, 'path')
  if (urlPath === '' || urlPath === '/') return
  if (!urlPath.startsWith('/')) problems.invalid(`${path}.path`, urlPath, "must start with a '/'")
  const steps = urlPath.slice(1).replace(/\/$/, '').split('/')
  for (const [index, step] of steps.entries()) {
    if (step === '') problems.invalid(`${path}.path`, urlPath, `segment[${index}] may not be empty`)
    else for (const why of nameProblems(step)) problems.invalid(`${path}.path`, urlPath, `segment[${index}]: ${why}`)
  }
}

function validateConditions(problems: Problems, webhook: JsonObject, path: string): void {
  const names = new Set<string>()
  for (const [condition, at] of entriesOf(webhook, 'matchConditions', path)) {
    const name = textAt(condition, 'name')
    const expression = textAt(condition, 'expression').trim()
    if (expression === '') problems.required(`${at}.expression`)
    else validateExpression(problems, expression, `${at}.expression`)
    if (name === '') problems.required(`${at}.name`)
    else problems.invalidAll(`${at}.name`, name, qualifiedNameProblems(name))
    if (names.has(name)) problems.duplicate(`${at}.name`, name)
    names.add(name)
  }
}

function validateExpression(problems: Problems, expression: string, path: string): void {
  try {
    parse(expression)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    problems.invalid(path, expression, `compilation failed: ${why}`)
  }
}
