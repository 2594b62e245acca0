/** Scopes of the API token that some features use when the token has them. */
import { REASONS } from '../../conditions/reasons.ts'
import type { DynaKubeContext, DynaKubeReporter } from '../../dynakube-component.ts'
import { isOutdated } from '../../tenant-requests.ts'

/** A scope that features can do without. */
export type OptionalScope = 'settings.read' | 'settings.write'

const OPTIONAL: readonly (readonly [type: string, scope: OptionalScope])[] = [
  ['ApiTokenSettingsRead', 'settings.read'],
  ['ApiTokenSettingsWrite', 'settings.write'],
]

/** Conditions that report whether the token has these scopes. */
export const SCOPE_CONDITIONS: readonly string[] = OPTIONAL.map(([type]) => type)

/** Reports which of the optional scopes that features need the token has. */
export function reportOptionalScopes(
  reporter: DynaKubeReporter,
  scopes: readonly string[],
  asked: ReadonlySet<string>,
): void {
  for (const [type, scope] of OPTIONAL) {
    const isPresent = scopes.includes(scope)
    const state = isPresent
      ? ({ status: 'True', reason: REASONS.scopePresent, message: `apiToken has ${scope}` } as const)
      : ({
          status: 'False',
          reason: REASONS.scopeMissing,
          message: `apiToken lacks ${scope}; some features stay off`,
        } as const)
    if (asked.has(scope)) reporter.setCondition({ type, ...state })
    else reporter.removeConditions(type)
  }
}

/** Whether a feature that was enabled since the last request needs a scope that was not looked up then. */
export function hasUnknownScopes(reporter: DynaKubeReporter, asked: ReadonlySet<string>): boolean {
  return OPTIONAL.some(([type, scope]) => asked.has(scope) && reporter.condition(type) === undefined)
}

/** The needed scopes that the token does not have. */
export function missingOptionalScopes(
  reporter: DynaKubeReporter,
  ...needed: readonly OptionalScope[]
): readonly OptionalScope[] {
  return OPTIONAL.filter(([type, scope]) => needed.includes(scope) && reporter.condition(type)?.status !== 'True').map(
    ([, scope]) => scope,
  )
}

/**
 * Whether the tenant may be called for what a condition reports: as {@link isOutdated}, and immediately when the token
 * has got the scopes that it lacked last time.
 */
export function mayAskFor(
  context: Pick<DynaKubeContext, 'reporter' | 'clock'>,
  type: string,
  ...needed: readonly OptionalScope[]
): boolean {
  if (isOutdated(context, type)) return true
  const { reporter } = context
  const wasMissing = reporter.condition(type)?.reason === REASONS.scopeMissing
  return wasMissing && missingOptionalScopes(reporter, ...needed).length === 0
}
