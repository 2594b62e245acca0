/** Whom the operator acts as: ServiceAccounts of tenants, never itself. */
import { type Impersonation, type ServiceAccountKey, serviceAccount } from '@reeve/kube'
import type { CollectorSpec } from '../api/collector.ts'
import type { CollectorSettings } from '../settings.ts'

/** The account of a Collector that names none, where the settings name none either. */
const DEFAULT_SERVICE_ACCOUNT = 'collector'

/** Stands for every name in the settings. */
const ANY = '*'

/** The name of the ServiceAccount that a Collector is served as, in whatever namespace. */
export function accountOf(
  { serviceAccountName }: Pick<CollectorSpec, 'serviceAccountName'>,
  { defaultServiceAccount = DEFAULT_SERVICE_ACCOUNT }: Pick<CollectorSettings, 'defaultServiceAccount'>,
): string {
  return serviceAccountName ?? defaultServiceAccount
}

/**
 * The names that `spec.serviceAccountName` may have; nothing when it may have any.
 *
 * The chart gives the operator the right to impersonate accounts of these names and of no others, so that the API server
 * refuses the rest whatever happens here.
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
