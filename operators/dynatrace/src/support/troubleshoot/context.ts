/** What the checks work with. */

import type { Clock } from '@reeve/http'
import type { DiscoveringClient } from '@reeve/kube'
import { isForbidden, isNotFound, type KubeObject, type ObjectKey, type Resource, type Stored } from '@reeve/kube'
import { remedyOf } from '@reeve/kube/explain-failure'
import type { Logger } from '@reeve/runtime'
import type { Modules } from '../../api/validation/modules.ts'
import type { CheckName, ReportFinding } from './finding.ts'
import { CheckReporter } from './finding.ts'

/** The time of a server, from the `Date` header of a response. */
export interface ServerTime {
  readonly serverMs: number
  /** The local clock when the response arrived. */
  readonly localMs: number
}

/** Options of a report, and its dependencies. */
export interface TroubleshootContext {
  readonly client: DiscoveringClient
  /** The operator's namespace. */
  readonly namespace: string
  /** Only this DynaKube. @default all of the namespace */
  readonly dynakube?: string
  /** Also explain why this pod is injected or not. @default none */
  readonly pod?: ObjectKey & { readonly namespace: string }
  readonly modules: Modules
  readonly env: Readonly<Record<string, string | undefined>>
  readonly operatorVersion: string
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly logger: Logger
  readonly report: ReportFinding
  /** The time of the API server in its latest response; `undefined` if it has not sent any. */
  readonly apiServerTime: () => ServerTime | undefined
}

/** One request may take this long: a report about an unreachable server has to come to an end. */
export const REQUEST_TIMEOUT_MS = 10_000

/** The reporter of a check. */
export const reporterOf = (context: TroubleshootContext, check: CheckName): CheckReporter =>
  new CheckReporter(check, context.report)

/** What bounds one request of a check. */
export const bounded = ({ signal }: Pick<TroubleshootContext, 'signal'>) => ({ signal, timeoutMs: REQUEST_TIMEOUT_MS })

/** An object, `undefined` if it does not exist. */
export async function find<T extends KubeObject>(
  context: TroubleshootContext,
  resource: Resource<T>,
  key: ObjectKey,
): Promise<Stored<T> | undefined> {
  try {
    return await context.client.get(resource, key, bounded(context))
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

/** What to do about an object that this account may not read. */
export const FORBIDDEN_REMEDY =
  'run troubleshoot with an account that may read it: outside the cluster it uses your own kubeconfig'

/** What to do about an object that could not be read. */
export function readRemedy(error: unknown): string {
  if (isForbidden(error)) return FORBIDDEN_REMEDY
  const remedy = remedyOf(error) ?? 'Check that the API server can be reached'
  return `${remedy.charAt(0).toLowerCase()}${remedy.slice(1)}`
}
