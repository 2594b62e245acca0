/** Users and groups. */

/** A user, as seen by admission and authorization. */
export interface UserInfo {
  readonly username: string
  readonly uid?: string
  readonly groups: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

/** The user of the cluster's own controllers. */
export const systemUser: UserInfo = {
  username: 'system:apiserver',
  groups: ['system:masters', 'system:authenticated'],
}

/** The group of all authenticated users. */
export const AUTHENTICATED_GROUP = 'system:authenticated'
/** The group of requests without credentials. */
export const UNAUTHENTICATED_GROUP = 'system:unauthenticated'
/** The group that is always authorized. */
export const MASTERS_GROUP = 'system:masters'

/** The user of requests without credentials. */
export const anonymousUser: UserInfo = { username: 'system:anonymous', groups: [UNAUTHENTICATED_GROUP] }

/** `user` as a member of the group of authenticated users. */
export function authenticated(user: UserInfo): UserInfo {
  if (user.groups.includes(AUTHENTICATED_GROUP)) return user
  return { ...user, groups: [...user.groups, AUTHENTICATED_GROUP] }
}

/** The user name of a service account. */
export function serviceAccountUsername(namespace: string, name: string): string {
  return `system:serviceaccount:${namespace}:${name}`
}

/** The groups every service account of `namespace` is in. */
export function serviceAccountGroups(namespace: string): readonly string[] {
  return ['system:serviceaccounts', `system:serviceaccounts:${namespace}`]
}

/** The service account behind a user name, if it is one. */
export function parseServiceAccountUsername(
  username: string,
): { readonly namespace: string; readonly name: string } | undefined {
  const [prefix, kind, namespace, name, ...rest] = username.split(':')
  if (prefix !== 'system' || kind !== 'serviceaccount' || rest.length > 0) return undefined
  if (namespace === undefined || namespace === '' || name === undefined || name === '') return undefined
  return { namespace, name }
}
