/** Who makes a request. */

export interface UserInfo {
  readonly username: string
  readonly uid?: string
  readonly groups: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

/** What the cluster's own controllers act as. */
export const systemUser: UserInfo = {
  username: 'system:apiserver',
  groups: ['system:masters', 'system:authenticated'],
}
