/** The configuration of code modules: requested when the stored one is outdated, read from its Secret otherwise. */
import { decodeJson } from '@reeve/http/decode-json'
import { Type } from 'typebox'
import { namesOf } from '../../../../api/dynakube/names.ts'
import { hostGroup, needsAppInjection } from '../../../../api/dynakube/one-agent-facts.ts'
import { REASONS } from '../../conditions/reasons.ts'
import { type DynaKubeContext, viewOf } from '../../dynakube-component.ts'
import { isOutdated, reported } from '../../tenant-requests.ts'
import { tenantOf } from '../tenant/tenant.ts'

/** The key of the configuration of code modules. */
export const PROCESS_MODULE_KEY = 'ruxitagentproc.json'

/** Reports whether the Secret is up to date, and thus when the tenant is called again. */
export const BOOTSTRAPPER_CONDITION = 'BootstrapperConfig'

/** The configuration of code modules. */
export interface ProcessModuleConfig {
  /** An integer, as text: a number is exact only up to 2^53. */
  readonly revision: string
  readonly properties: readonly { readonly section: string; readonly key: string; readonly value: string }[]
}

/** What pods with code modules need; absent without code modules. */
export interface ProcessModules {
  readonly processModuleConfig?: ProcessModuleConfig
}

/** *Errors*: errors of the tenant. */
export async function resolveProcessModules(context: DynaKubeContext): Promise<ProcessModules> {
  const { primary: dynakube, reporter, signal } = context
  if (!needsAppInjection(dynakube)) return {}
  const type = BOOTSTRAPPER_CONDITION
  const name = namesOf(dynakube).bootstrapperConfig
  const stored = isOutdated(context, type)
    ? undefined
    : storedConfig(viewOf(context).secret(name)?.[PROCESS_MODULE_KEY])
  if (stored !== undefined) return { processModuleConfig: stored }
  reporter.setCondition({ type, status: 'False', reason: REASONS.secretOutdated, message: `${name} is outdated` })
  const group = hostGroup(dynakube)
  const { client } = tenantOf(context)
  const processModuleConfig = await reported(context, type, () =>
    client.processModules.config({ signal, ...(group && { hostGroup: group }) }),
  )
  return { processModuleConfig }
}

const Text = Type.String()
const Stored = Type.Object({
  revision: Type.String({ pattern: '^[0-9]+$' }),
  properties: Type.Array(Type.Object({ section: Text, key: Text, value: Text }), { minItems: 1 }),
})

/**
 * The stored configuration; `undefined` when it is absent or damaged.
 *
 * @example
 * storedConfig('{"properties":[{"section":"general","key":"tenant","value":"abc"}],"revision":7}')?.revision // '7'
 */
export function storedConfig(text = ''): ProcessModuleConfig | undefined {
  const decoded = decodeJson(Stored, Buffer.from(text), { numbersAsText: ['revision'] })
  return 'value' in decoded ? decoded.value : undefined
}
