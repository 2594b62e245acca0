/** Clients with other identities: by impersonation, by a token, or anonymous; and their permissions. */
import { RawClient, type RawResponse } from '@reeve/cluster-under-test'
import type { Sender } from './api-resource.ts'
import { type ConformanceApi, type Headers, type Json, type Reply, unique } from './conformance-api.ts'
import { until } from './until.ts'

/** The identity to impersonate. */
export interface Identity {
  readonly user: string
  readonly groups?: readonly string[]
  readonly uid?: string
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

/** The administrator impersonating another user; several groups or values need {@link impersonatingMany}. */
export function impersonating(api: ConformanceApi, identity: Identity): Sender {
  return senderOf(() => api.cluster.raw, headersOf(identity))
}

/** Like {@link impersonating}, over HTTP/1.1, where a header can occur several times. Must be closed. */
export function impersonatingMany(api: ConformanceApi, identity: Identity): Sender & AsyncDisposable {
  const raw = new RawClient({ ...api.cluster.connection, allowH2: false })
  return { ...senderOf(() => raw, headersOf(identity)), [Symbol.asyncDispose]: () => raw.close() }
}

function headersOf({ user, groups = [], uid, extra = {} }: Identity): Record<string, string | readonly string[]> {
  return {
    'impersonate-user': user,
    ...(groups.length > 0 && { 'impersonate-group': groups }),
    ...(uid !== undefined && { 'impersonate-uid': uid }),
    ...Object.fromEntries(Object.entries(extra).map(([key, values]) => [`impersonate-extra-${key}`, values])),
  }
}

/** A client with a bearer token, or without credentials. Must be closed. */
export function bearing(api: ConformanceApi, token?: string): Sender & AsyncDisposable {
  const { server, ca } = api.cluster.connection
  const raw = new RawClient({ server, ca, ...(token !== undefined && { token }) })
  return { ...senderOf(() => raw), [Symbol.asyncDispose]: () => raw.close() }
}

function senderOf(raw: () => RawClient, identity: Record<string, string | readonly string[]> = {}): Sender {
  return {
    async send(method, path, body?: unknown, headers: Headers = {}) {
      return replyOf(await raw().send({ method, path, body, headers: { ...headers, ...identity } }))
    },
  }
}

function replyOf(response: RawResponse): Reply {
  const isJson = /^\s*[{[]/.test(response.text)
  return { ...response, body: isJson ? response.json() : undefined }
}

const RBAC = '/apis/rbac.authorization.k8s.io/v1'
const apiGroup = 'rbac.authorization.k8s.io'

/** Permissions to grant. */
export interface Grant {
  readonly rules: Json
  /** The namespace it is limited to; absent for the whole cluster. */
  readonly namespace?: string
  /** @default the new user itself */
  readonly subjects?: Json
  /**
   * A request that only this grant allows, to detect when it takes effect. @default the first verb and resource of the
   * rules
   */
  readonly proof?: Json
}

/** Grants rules to a new user, or to other subjects, and waits until they take effect. Returns the user's name. */
export async function grant(api: ConformanceApi, { rules, namespace, subjects, proof }: Grant): Promise<string> {
  const user = unique('user')
  const scope = namespace === undefined ? '' : `/namespaces/${namespace}`
  const [roles, bindings, kind] =
    namespace === undefined ? ['clusterroles', 'clusterrolebindings', 'ClusterRole'] : ['roles', 'rolebindings', 'Role']
  await api.create(`${RBAC}${scope}/${roles}`, { metadata: { name: user }, rules })
  await api.create(`${RBAC}${scope}/${bindings}`, {
    metadata: { name: user },
    roleRef: { apiGroup, kind, name: user },
    subjects: subjects ?? [{ apiGroup, kind: 'User', name: user }],
  })
  const [rule] = rules
  await untilAllowed(
    api,
    proof ?? {
      user,
      resourceAttributes: {
        ...(namespace !== undefined && { namespace }),
        verb: rule.verbs[0],
        group: rule.apiGroups?.[0] ?? '',
        resource: rule.resources?.[0] ?? '',
        ...(rule.resourceNames !== undefined && { name: rule.resourceNames[0] }),
      },
    },
  )
  return user
}

/**
 * Waits until a SubjectAccessReview with this spec is allowed: permissions take effect a moment after they are granted.
 */
export async function untilAllowed(api: ConformanceApi, spec: Json): Promise<void> {
  await until(`${JSON.stringify(spec)} is allowed`, async () => {
    const { body } = await api.post('/apis/authorization.k8s.io/v1/subjectaccessreviews', { spec })
    return body.status?.allowed === true
  })
}
