/** The tokens of a DynaKube: read from their Secret, and checked for what they must be allowed to do. */
import { formatTime } from '@reeve/runtime'
import { hasTelemetryIngest } from '../../../api/dynakube/feature-facts.ts'
import { tokensSecretName } from '../../../api/dynakube/names.ts'
import { isApiRequestAllowed } from '../../../api/dynakube/tenant-facts.ts'
import { isTenantUnavailable } from '../../../tenant/client/errors.ts'
import { TokenError, type Tokens } from '../../tenant-access/tokens.ts'
import {
  optionalScopes,
  type ScopeSettings,
  type TokenDemand,
  tokenDemands,
} from '../components/tenant/token-scopes.ts'
import { CONDITIONS, FORMER_TOKEN_CONDITIONS, REASONS } from '../condition-types.ts'
import type { Pass } from './pass.ts'

/** Says in the status that the tokens do not do. */
export function reportTokenError({ draft }: Pick<Pass, 'draft'>, error: Error): void {
  draft.remove(...FORMER_TOKEN_CONDITIONS)
  draft.set(CONDITIONS.tokens, 'False', 'TokenError', error.message)
}

/**
 * Looks up what the tokens may do, and remembers in conditions which optional scopes there are: once per request
 * threshold, when another feature is switched on, and as long as the tokens do not do.
 *
 * *Errors*: {@link TokenError} listing, per token and feature, the scopes that are missing; errors of the tenant.
 */
export async function verifyTokens(pass: Pass, tokens: Tokens, settings: ScopeSettings): Promise<void> {
  const { draft, clock } = pass
  draft.remove(...FORMER_TOKEN_CONDITIONS)
  const { lastTokenScopeRequest } = draft.status.dynatraceApi ?? {}
  const isDue =
    isApiRequestAllowed(draft.dynakube, lastTokenScopeRequest, clock.now()) ||
    draft.condition(CONDITIONS.tokens)?.reason === 'TokenError'
  if (isDue || hasUnknownScopes(pass, optionalScopes(draft.dynakube, tokens, settings))) {
    await lookUp(pass, tokens, settings)
    draft.update({ dynatraceApi: { ...draft.status.dynatraceApi, lastTokenScopeRequest: formatTime(clock.now()) } })
  }
  reportTokens(pass, tokens)
}

/** Without the token with which telemetry is sent, collectors wait; everything else goes on. */
function reportTokens({ draft }: Pass, { dataIngestToken }: Tokens): void {
  if (dataIngestToken !== undefined) {
    draft.set(CONDITIONS.tokens, 'True', 'TokenReady', 'The tokens are ready')
    return
  }
  if (!hasTelemetryIngest(draft.dynakube)) {
    draft.set(CONDITIONS.tokens, 'True', 'TokenReady', 'The tokens are ready; there is no dataIngestToken')
    return
  }
  const where = `the Secret ${draft.dynakube.metadata.namespace}/${tokensSecretName(draft.dynakube)}`
  const message = `${where} has no dataIngestToken, which spec.telemetryIngest needs; add one`
  draft.set(CONDITIONS.tokens, 'False', 'DataIngestTokenMissing', message)
}

async function lookUp(pass: Pass, tokens: Tokens, settings: ScopeSettings): Promise<void> {
  const { draft, tenant, signal } = pass
  const problems: string[] = []
  for (const demand of tokenDemands(draft.dynakube, tokens, settings)) {
    let scopes: readonly string[]
    try {
      scopes = await tenant.tokens.scopes(demand.value, { signal })
    } catch (error) {
      if (isTenantUnavailable(error) || !(error instanceof Error)) throw error
      signal.throwIfAborted()
      problems.push(`${demand.key}: ${error.message}`)
      continue
    }
    problems.push(...missingScopes(demand, scopes))
    if (demand.key === 'apiToken') rememberOptional(pass, scopes, optionalScopes(draft.dynakube, tokens, settings))
  }
  if (problems.length > 0) throw new TokenError(problems.join('\n'))
}

function missingScopes({ key, features }: TokenDemand, scopes: readonly string[]): readonly string[] {
  return features.flatMap(({ name, required }) => {
    const missing = required.filter((scope) => !scopes.includes(scope))
    if (missing.length === 0) return []
    return [`${key} lacks ${missing.join(', ')}, needed for "${name}"; add it, or use another token`]
  })
}

const OPTIONAL = [
  [CONDITIONS.settingsRead, 'settings.read'],
  [CONDITIONS.settingsWrite, 'settings.write'],
] as const

function rememberOptional({ draft }: Pass, scopes: readonly string[], asked: ReadonlySet<string>): void {
  for (const [type, scope] of OPTIONAL) {
    if (!asked.has(scope)) draft.remove(type)
    else if (scopes.includes(scope)) draft.set(type, 'True', REASONS.scopePresent, `apiToken has ${scope}`)
    else draft.set(type, 'False', REASONS.scopeMissing, `apiToken lacks ${scope}; some features stay off`)
  }
}

/** Whether a feature that was switched on since the last look asks for a scope that was not looked for then. */
function hasUnknownScopes({ draft }: Pass, asked: ReadonlySet<string>): boolean {
  return OPTIONAL.some(([type, scope]) => asked.has(scope) && draft.condition(type) === undefined)
}

/** The optional scopes among the given ones that the token does not have. */
export function missingOptionalScopes({ draft }: Pick<Pass, 'draft'>, ...needed: readonly string[]): readonly string[] {
  return OPTIONAL.filter(([type, scope]) => needed.includes(scope) && draft.condition(type)?.status !== 'True').map(
    ([, scope]) => scope,
  )
}

/**
 * Whether the tenant may be asked for what a condition stands for: as {@link StatusDraft.isOutdated}, and at once
 * when the scopes that were missing last time are there.
 */
export function mayAskFor({ draft }: Pick<Pass, 'draft'>, type: string, ...needed: readonly string[]): boolean {
  if (draft.isOutdated(type)) return true
  return (
    draft.condition(type)?.reason === REASONS.scopeMissing && missingOptionalScopes({ draft }, ...needed).length === 0
  )
}
