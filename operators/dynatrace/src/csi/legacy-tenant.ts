/** Names of directories of earlier releases. */
import { TenantUnknownError, tenantFromApiUrl } from '../api/dynakube/tenant-facts.ts'
import type { DynaKube } from '../api/latest.ts'
import { isFileName } from './file-name.ts'

/** The tenant after which an earlier release named a folder; `undefined` if the address does not tell. */
export function legacyTenant(dynakube: DynaKube): string | undefined {
  try {
    const tenant = tenantFromApiUrl(dynakube)
    return isFileName(tenant) ? tenant : undefined
  } catch (error) {
    if (error instanceof TenantUnknownError) return undefined
    throw error
  }
}
