/** Verifies that the tokens of a DynaKube have the scopes that its features need. */
import { formatTime } from '@reeve/runtime'
import { hasTelemetryIngest } from '../../../../api/dynakube/feature-facts.ts'
import { tokensSecretName } from '../../../../api/dynakube/names.ts'
import { isApiRequestAllowed } from '../../../../api/dynakube/tenant-facts.ts'
import { isTenantUnavailable } from '../../../../tenant/client/errors.ts'
import type { TenantClient } from '../../../../tenant/client/tenant-client.ts'
import { TokenError, type Tokens } from '../../../tenant-access/tokens.ts'
import type { DynaKubeContext } from '../../dynakube-component.ts'
import { hasUnknownScopes, reportOptionalScopes } from './optional-scopes.ts'
import { missingScopes, optionalScopes, tokenDemands } from './token-scopes.ts'

/** Reports whether the tokens are valid. */
export const TOKENS_CONDITION = 'Tokens'

/** Types that earlier releases wrote; they are removed. */
const FORMER_CONDITIONS = ['APIToken', 'PaaSToken', 'DataIngestToken'] as const

const TOKEN_ERROR = 'TokenError'

/** Reports that the tokens cannot be used. */
export function reportTokenError({ reporter }: Pick<DynaKubeContext, 'reporter'>, { message }: Error): void {
  reporter.removeConditions(...FORMER_CONDITIONS)
  reporter.setCondition({ type: TOKENS_CONDITION, status: 'False', reason: TOKEN_ERROR, message })
}

/**
 * Looks up the scopes of the tokens and reports which optional scopes there are: once per request threshold, when
 * another feature is enabled, and as long as the tokens are invalid.
 *
 * *Errors*: {@link TokenError} listing, per token and feature, the scopes that are missing; errors of the tenant.
 */
export async function verifyTokens(context: DynaKubeContext, client: TenantClient, tokens: Tokens): Promise<void> {
  const { reporter, clock, dependencies } = context
  reporter.removeConditions(...FORMER_CONDITIONS)
  const { primary: dynakube, status } = reporter
  const isDue =
    isApiRequestAllowed(dynakube, status?.dynatraceApi?.lastTokenScopeRequest, clock.now()) ||
    reporter.condition(TOKENS_CONDITION)?.reason === TOKEN_ERROR
  if (isDue || hasUnknownScopes(reporter, optionalScopes(dynakube, tokens, dependencies))) {
    await lookUp(context, client, tokens)
    const lastTokenScopeRequest = formatTime(clock.now())
    reporter.update({ dynatraceApi: { ...status?.dynatraceApi, lastTokenScopeRequest } })
  }
  report(context, tokens)
}

/** Without the token for telemetry, collectors wait; everything else continues. */
function report({ reporter }: DynaKubeContext, { dataIngestToken }: Tokens): void {
  const { primary: dynakube } = reporter
  const isReady = dataIngestToken !== undefined || !hasTelemetryIngest(dynakube)
  const where = `the Secret ${dynakube.metadata.namespace}/${tokensSecretName(dynakube)}`
  reporter.setCondition({
    type: TOKENS_CONDITION,
    ...(isReady
      ? {
          status: 'True',
          reason: 'TokenReady',
          message: `The tokens are ready${dataIngestToken === undefined ? '; there is no dataIngestToken' : ''}`,
        }
      : {
          status: 'False',
          reason: 'DataIngestTokenMissing',
          message: `${where} has no dataIngestToken, which spec.telemetryIngest needs; add one`,
        }),
  })
}

async function lookUp(context: DynaKubeContext, client: TenantClient, tokens: Tokens): Promise<void> {
  const { reporter, dependencies, signal } = context
  const { primary: dynakube } = reporter
  const problems: string[] = []
  for (const demand of tokenDemands(dynakube, tokens, dependencies)) {
    let scopes: readonly string[]
    try {
      scopes = await client.tokens.scopes(demand.value, { signal })
    } catch (error) {
      if (isTenantUnavailable(error) || !(error instanceof Error)) throw error
      signal.throwIfAborted()
      problems.push(`${demand.key}: ${error.message}`)
      continue
    }
    problems.push(...missingScopes(demand, scopes))
    if (demand.key === 'apiToken') {
      reportOptionalScopes(reporter, scopes, optionalScopes(dynakube, tokens, dependencies))
    }
  }
  if (problems.length > 0) throw new TokenError(problems.join('\n'))
}
