/** The configuration of code modules: asked for when the last answer is old, read from its Secret otherwise. */
import { decodeJson } from '@reeve/http'
import { Type } from 'typebox'
import { namesOf } from '../../../../api/dynakube/names.ts'
import { hostGroup, needsAppInjection } from '../../../../api/dynakube/one-agent-facts.ts'
import { REASONS } from '../../condition-types.ts'
import type { Material, ProcessModuleConfig } from '../../render-input.ts'
import type { Pass } from '../../resolve/pass.ts'
import { reported } from '../connection/connection-info.ts'

/** The key of the configuration of code modules. */
export const PROCESS_MODULE_KEY = 'ruxitagentproc.json'

/** Tells whether the Secret is up to date, and so when the tenant is asked again. */
export const BOOTSTRAPPER_CONDITION = 'BootstrapperConfig'

/** *Errors*: errors of the tenant. */
export async function resolveProcessModules(pass: Pass): Promise<Material> {
  const { draft, view, tenant, signal } = pass
  const { dynakube } = draft
  if (!needsAppInjection(dynakube)) return {}
  const type = BOOTSTRAPPER_CONDITION
  const name = namesOf(dynakube).bootstrapperConfig
  const stored = draft.isOutdated(type) ? undefined : storedConfig(view.secret(name)?.[PROCESS_MODULE_KEY])
  if (stored !== undefined) return { processModuleConfig: stored }
  draft.set(type, 'False', REASONS.secretOutdated, `${name} outdated`)
  const group = hostGroup(dynakube)
  const processModuleConfig = await reported(pass, type, () =>
    tenant.processModules.config({ signal, ...(group && { hostGroup: group }) }),
  )
  return { processModuleConfig }
}

const Text = Type.String()
const Stored = Type.Object({
  revision: Type.String({ pattern: '^[0-9]+$' }),
  properties: Type.Array(Type.Object({ section: Text, key: Text, value: Text }), { minItems: 1 }),
})

/**
 * What was written before; `undefined` when it is gone or somebody spoilt it.
 *
 * @example
 * storedConfig('{"properties":[{"section":"general","key":"tenant","value":"abc"}],"revision":7}')?.revision // '7'
 */
export function storedConfig(text = ''): ProcessModuleConfig | undefined {
  const decoded = decodeJson(Stored, Buffer.from(text), { numbersAsText: ['revision'] })
  return 'value' in decoded ? decoded.value : undefined
}
