/** The token with which gateways prove who they are; replaced well before it ends. */
import { namesOf } from '../../../../api/dynakube/names.ts'
import { CONDITIONS, REASONS } from '../../condition-types.ts'
import type { Material } from '../../render-input.ts'
import type { Pass } from '../../resolve/pass.ts'
import { reported } from '../connection/connection-info.ts'

/** The key of the token in its Secret. */
export const AUTH_TOKEN_KEY = 'auth-token'

const DAY_MS = 86_400_000
/** Tokens live for 60 days; at 30 the tenant begins to warn of their end. */
const ROTATE_AFTER_MS = 29 * DAY_MS

/**
 * The token that is there, or a new one. When the one that is there is too old, none is given: without it its Secret is
 * removed, and the next look makes a new token for a new Secret, whose age is then right.
 *
 * *Errors*: errors of the tenant.
 */
export async function resolveAuthToken(pass: Pass): Promise<Material> {
  const { draft, view, tenant, clock, signal } = pass
  const type = CONDITIONS.activeGateAuthToken
  const name = namesOf(draft.dynakube).activeGateAuthTokenSecret
  // An empty one is as good as none.
  const stored = view.secret(name)?.[AUTH_TOKEN_KEY] || undefined
  const ageMs = clock.now() - (view.secretCreatedMs(name) ?? clock.now())
  if (stored !== undefined && ageMs <= ROTATE_AFTER_MS) {
    report(pass, stored, ageMs)
    return { activeGateAuthToken: stored }
  }
  draft.set(type, 'False', REASONS.secretOutdated, `${name} outdated`)
  if (stored !== undefined) return { activeGateAuthToken: stored, isActiveGateAuthTokenOutdated: true }
  const owner = draft.dynakube.metadata.name ?? ''
  const { token } = await reported(pass, type, () => tenant.tokens.createForActiveGate(owner, { signal }))
  report(pass, token, 0)
  return { activeGateAuthToken: token }
}

/** Shows the public part of the token only: it stands before the second dot. */
function report({ draft }: Pass, token: string, ageMs: number): void {
  const [prefix = '', publicPart] = token.split('.')
  const shown = publicPart === undefined ? 'unknown' : `${prefix}.${publicPart}`
  const days = Math.floor(ageMs / DAY_MS)
  draft.set(
    CONDITIONS.activeGateAuthToken,
    'True',
    REASONS.secretCreated,
    `secret is ${days} day(s) old, token ${shown}`,
  )
}
