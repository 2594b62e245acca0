/** Answers the challenge of a registry. */
import { isRecord } from '@reeve/kube'
import { ChartInvalidError, ChartRefusedError } from '../errors.ts'
import { textAt } from '../json-shape.ts'
import type { ChartCredentials } from './chart-source.ts'
import type { HttpSource } from './fetch-bytes.ts'

const MAX_TOKEN_BYTES = 256 * 1024

/** The header of user name and password, if there are any. */
export function basicAuthorization(credentials: ChartCredentials | undefined): string | undefined {
  if (credentials?.username === undefined) return undefined
  return `Basic ${Buffer.from(`${credentials.username}:${credentials.password ?? ''}`).toString('base64')}`
}

/** Who asks. */
export interface AuthorizeOptions {
  readonly what: string
  /** See {@link basicAuthorization}. */
  readonly basic: string | undefined
}

/**
 * The header that `challenge` asks for: that of the user name, or a token from the service that it names, which may well
 * give one to anybody.
 */
export async function authorize(
  http: HttpSource,
  challenge: string | string[] | undefined,
  { what, basic }: AuthorizeOptions,
): Promise<string> {
  const text = String(challenge ?? '')
  if (/^basic\b/i.test(text) && basic !== undefined) return basic
  const parameters = Object.fromEntries([...text.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, value]) => [key, value]))
  const realm = URL.parse(parameters.realm ?? '')
  if (!/^bearer\b/i.test(text) || realm === null) {
    throw new ChartRefusedError(`${what}: the registry wants credentials; name a Secret with them`)
  }
  for (const name of ['service', 'scope']) {
    const value = parameters[name]
    if (value !== undefined) realm.searchParams.set(name, value)
  }
  const question = { url: realm, maxBytes: MAX_TOKEN_BYTES, ...(basic !== undefined && { authorization: basic }) }
  const answer = await http.get(what, question)
  if (answer.status === 401)
    throw new ChartRefusedError(`${what}: ${realm.host} refuses the credentials; check the Secret`)
  return `Bearer ${tokenOf(answer.bytes, `${what}: ${realm.host}`)}`
}

function tokenOf(bytes: Buffer, who: string): string {
  let answer: unknown
  try {
    answer = JSON.parse(bytes.toString('utf8'))
  } catch {
    // Said below; the parser's message would quote what may be a token.
  }
  const token = isRecord(answer) ? (textAt(answer, 'token') ?? textAt(answer, 'access_token')) : undefined
  // A token that cannot stand in a header is none.
  if (token === undefined || !/^[\x21-\x7e]+$/.test(token))
    throw new ChartInvalidError(`${who} answered without a token`)
  return token
}
