/** Impersonation of other identities, where RBAC allows it. */

/** The identity to impersonate. */
export interface Impersonation {
  readonly user: string
  readonly uid?: string
  readonly groups?: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

/**
 * The identity of a ServiceAccount. The server adds the groups of service accounts when none are requested, so that
 * only permission to impersonate that account is needed.
 *
 * @example
 * await client.list(Secrets, { namespace: 'shop', impersonate: serviceAccount({ namespace: 'shop', name: 'deployer' }) })
 */
export function serviceAccount({ namespace, name }: ServiceAccountKey): Impersonation {
  return { user: `system:serviceaccount:${namespace}:${name}` }
}

/** Identifies a ServiceAccount. */
export interface ServiceAccountKey {
  readonly namespace: string
  readonly name: string
}

/** The headers of impersonation. */
export interface ImpersonationHeaders {
  readonly headers: Readonly<Record<string, string>>
  readonly repeatedHeaders: Readonly<Record<string, readonly string[]>>
}

/**
 * The headers of an identity. Keys of `extra` are percent-encoded, because they may contain characters that header
 * names may not.
 */
export function impersonationHeaders(identity: Impersonation | undefined): ImpersonationHeaders {
  if (identity === undefined) return { headers: {}, repeatedHeaders: {} }
  const headers: Record<string, string> = { 'impersonate-user': identity.user }
  if (identity.uid !== undefined) headers['impersonate-uid'] = identity.uid
  const repeatedHeaders: Record<string, readonly string[]> = {}
  const add = (name: string, values: readonly string[]) => {
    const [only, ...more] = values
    if (only !== undefined && more.length === 0) headers[name] = only
    else if (only !== undefined) repeatedHeaders[name] = values
  }
  add('impersonate-group', identity.groups ?? [])
  for (const [key, values] of Object.entries(identity.extra ?? {})) {
    add(`impersonate-extra-${encodeURIComponent(key).toLowerCase()}`, values)
  }
  return { headers, repeatedHeaders }
}
