/** The tokens of a DynaKube, read from their Secret. */
import { tokensSecretName } from '../../api/dynakube/names.ts'
import type { DynaKube } from '../../api/latest.ts'
import type { NamespaceView } from '../references/namespace-view.ts'

/** The tokens that mean something to the operator. */
export interface Tokens {
  readonly apiToken: string
  /** Present if its key is, even with an empty value: the API token is then not used to download. */
  readonly paasToken?: string
  readonly dataIngestToken?: string
}

/** Tokens are missing, malformed or lack permissions. The message never shows one. */
export class TokenError extends Error {
  readonly code = 'TOKEN_INVALID'
  override readonly name = 'TokenError'
}

/**
 * Reads the tokens. *Errors*: {@link TokenError} naming the Secret and the key.
 *
 * @example
 * const { apiToken } = readTokens(dynakube, view)
 */
export function readTokens(dynakube: DynaKube, view: Pick<NamespaceView, 'namespace' | 'secret'>): Tokens {
  const name = tokensSecretName(dynakube)
  const where = `the Secret ${view.namespace}/${name}`
  const data = view.secret(name)
  if (data === undefined) throw new TokenError(`${where} does not exist; create it with the key apiToken`)
  const { apiToken, paasToken, dataIngestToken } = data
  if (!apiToken) throw new TokenError(`${where} has no apiToken; add one`)
  const padded = Object.keys(data).filter((key) => data[key] !== data[key]?.trim())
  if (padded.length > 0) {
    throw new TokenError(`${where}: ${padded.join(', ')} begins or ends with white space; remove it`)
  }
  return {
    apiToken,
    ...(paasToken !== undefined && { paasToken }),
    ...(dataIngestToken && { dataIngestToken }),
  }
}
