/** Reads the tenants and tokens that a simulator is started with from a file. */
import { isRecord } from '@reeve/http'
import { parse } from 'yaml'
import type { TenantOptions, TokenOptions } from './options.ts'
import { SimulatorError } from './simulator-error.ts'

/**
 * The tenants of a YAML or JSON file: token names and values by tenant. A token is a text, or an object with `value`
 * and `scopes`.
 *
 * *Errors*: {@link SimulatorError} naming the place, never a value.
 *
 * @example
 * readTokenFile('abc12345:\n  apiToken: dt0c01.PUBLIC.SECRET\n') // [{ id: 'abc12345', tokens: […] }]
 */
export function readTokenFile(text: string): readonly TenantOptions[] {
  let content: unknown
  try {
    content = parse(text)
  } catch {
    // The parser's message quotes the file, which contains tokens.
    throw wrong('', 'is neither YAML nor JSON')
  }
  if (!isRecord(content)) throw wrong('', 'must hold tokens by tenant')
  return Object.entries(content).map(([id, tokens]) => {
    if (!isRecord(tokens)) throw wrong(id, 'must hold tokens by name')
    return { id, tokens: Object.entries(tokens).map(([name, token]) => readToken(`${id}.${name}`, name, token)) }
  })
}

function readToken(place: string, name: string, token: unknown): TokenOptions {
  if (typeof token === 'string' && token !== '') return { name, value: token }
  const { value, scopes } = isRecord(token) ? token : {}
  if (typeof value !== 'string' || value === '')
    throw wrong(place, 'must be a text, or an object with value and scopes')
  if (scopes === undefined) return { name, value }
  if (!Array.isArray(scopes) || !scopes.every((scope) => typeof scope === 'string')) {
    throw wrong(`${place}.scopes`, 'must be an array of texts')
  }
  return { name, value, scopes }
}

function wrong(place: string, message: string): SimulatorError {
  return new SimulatorError('SIMULATOR_OPTIONS', `the token file${place === '' ? '' : ` at ${place}`} ${message}`)
}
