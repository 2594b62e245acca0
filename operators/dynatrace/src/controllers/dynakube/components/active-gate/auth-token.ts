/** The token with which gateways authenticate; replaced well before it expires. */
import { Secrets } from '@reeve/kube'
import { type DesiredObject, desired } from '@reeve/runtime'
import { namesOf } from '../../../../api/dynakube/names.ts'
import type { DynaKube } from '../../../../api/latest.ts'
import { encodeSecret } from '../../../rendering/secret-data.ts'
import { REASONS } from '../../conditions/reasons.ts'
import { type DynaKubeContext, type DynaKubeReporter, viewOf } from '../../dynakube-component.ts'
import { reported } from '../../tenant-requests.ts'
import { tenantOf } from '../tenant/tenant.ts'

/** Reports the age of the token. */
export const AUTH_TOKEN_CONDITION = 'ActiveGateAuthTokenSecret'

const KEY = 'auth-token'

const DAY_MS = 86_400_000
/** Tokens live for 60 days; 30 days before their end the tenant begins to warn. */
const ROTATE_AFTER_MS = 29 * DAY_MS

/** The token of gateways. */
export interface AuthToken {
  readonly activeGateAuthToken: string
  /** The Secret of the token is to be replaced: it is pruned now and created again by the next reconcile. */
  readonly isActiveGateAuthTokenOutdated?: boolean
}

/**
 * The stored token, or a new one. The age of a token is that of its Secret, so that the Secret of an old one is pruned
 * first; the next reconcile creates token and Secret.
 *
 * *Errors*: errors of the tenant.
 */
export async function resolveAuthToken(context: DynaKubeContext): Promise<AuthToken> {
  const { primary, reporter, clock, signal } = context
  const view = viewOf(context)
  const name = namesOf(primary).activeGateAuthTokenSecret
  const stored = view.secret(name)?.[KEY] || undefined
  const ageMs = clock.now() - (view.secretCreatedMs(name) ?? clock.now())
  if (stored !== undefined && ageMs <= ROTATE_AFTER_MS) {
    report(reporter, stored, ageMs)
    return { activeGateAuthToken: stored }
  }
  const type = AUTH_TOKEN_CONDITION
  reporter.setCondition({ type, status: 'False', reason: REASONS.secretOutdated, message: `${name} is outdated` })
  if (stored !== undefined) return { activeGateAuthToken: stored, isActiveGateAuthTokenOutdated: true }
  const { client } = tenantOf(context)
  const { token } = await reported(context, type, () =>
    client.tokens.createForActiveGate(primary.metadata.name, { signal }),
  )
  report(reporter, token, 0)
  return { activeGateAuthToken: token }
}

/** The Secret with the token. */
export function renderAuthToken(dynakube: DynaKube, token: AuthToken): readonly DesiredObject[] {
  if (token.isActiveGateAuthTokenOutdated) return []
  const secret = desired(Secrets, {
    metadata: { namespace: dynakube.metadata.namespace, name: namesOf(dynakube).activeGateAuthTokenSecret },
    data: encodeSecret({ [KEY]: token.activeGateAuthToken }),
  })
  return [secret]
}

/** Shows the public part of the token only: it stands before the second dot. */
function report(reporter: DynaKubeReporter, token: string, ageMs: number): void {
  const [prefix = '', publicPart] = token.split('.')
  const shown = publicPart === undefined ? 'unknown' : `${prefix}.${publicPart}`
  const message = `secret is ${Math.floor(ageMs / DAY_MS)} day(s) old, token ${shown}`
  reporter.setCondition({ type: AUTH_TOKEN_CONDITION, status: 'True', reason: REASONS.secretCreated, message })
}
