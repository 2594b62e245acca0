/** The accounts that the operator acts as: ServiceAccounts of tenants. */
import { type Impersonation, type ServiceAccountKey, serviceAccount } from '@reeve/kube'
import type { CollectorSpec } from '../api/collector.ts'
import type { CollectorSettings } from '../settings.ts'

/** Used when neither the Collector nor the settings name an account. */
const DEFAULT_SERVICE_ACCOUNT = 'collector'

/** Allows every name. */
const ANY = '*'

/** The name of the ServiceAccount that Helm acts as for a Collector. */
export function accountOf(
  { serviceAccountName }: Pick<CollectorSpec, 'serviceAccountName'>,
  { defaultServiceAccount = DEFAULT_SERVICE_ACCOUNT }: Pick<CollectorSettings, 'defaultServiceAccount'>,
): string {
  return serviceAccountName ?? defaultServiceAccount
}

/**
 * The names that `spec.serviceAccountName` may have; undefined when it may have any.
 *
 * The chart gives the operator the right to impersonate accounts of these names only, so that the API server rejects all
 * others.
 */
export function allowedAccounts(settings: CollectorSettings): readonly string[] | undefined {
  const { defaultServiceAccount = DEFAULT_SERVICE_ACCOUNT, serviceAccounts = [] } = settings
  return serviceAccounts.includes(ANY) ? undefined : [defaultServiceAccount, ...serviceAccounts]
}

/**
 * What makes a request one of the account.
 *
 * @example
 * await client.get(Secrets, key, { signal, ...as({ namespace: 'acme', name: 'collector' }) })
 */
export function as(account: ServiceAccountKey): { readonly impersonate: Impersonation } {
  return { impersonate: serviceAccount(account) }
}

/** An account, for messages. */
export function describeAccount({ namespace, name }: ServiceAccountKey): string {
  return `ServiceAccount ${namespace}/${name}`
}
