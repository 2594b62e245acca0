/** Reads the authentication challenge of a registry. */

/** How to authenticate. */
export type Challenge =
  | { readonly scheme: 'basic' }
  | { readonly scheme: 'bearer'; readonly realm: string; readonly service?: string }

/**
 * The strongest supported scheme of a `WWW-Authenticate` header; `undefined` if there is none.
 *
 * @example
 * parseChallenge('Bearer realm="https://auth.example/token",service="registry"')
 */
export function parseChallenge(header: string | readonly string[] | undefined): Challenge | undefined {
  const lines = header === undefined ? [] : [header].flat()
  for (const line of lines) {
    const bearer = /\bBearer\s+(.*)$/i.exec(line)?.[1]
    if (bearer === undefined) continue
    const realm = parameter(bearer, 'realm')
    const service = parameter(bearer, 'service')
    if (realm !== undefined) return { scheme: 'bearer', realm, ...(service !== undefined && { service }) }
  }
  return lines.some((line) => /\bBasic\b/i.test(line)) ? { scheme: 'basic' } : undefined
}

function parameter(text: string, name: string): string | undefined {
  const match = new RegExp(`(?:^|[,\\s])${name}=(?:"((?:[^"\\\\]|\\\\.)*)"|([^\\s,"]+))`, 'i').exec(text)
  return match?.[1]?.replaceAll(/\\(.)/g, '$1') ?? match?.[2]
}
