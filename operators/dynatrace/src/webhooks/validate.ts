/** The validating webhooks: one path per kind and version, one set of rules for all versions of a kind. */
import type { AnyCrd, Problem } from '@reeve/crd'
import type { KubeObject, UnknownObject } from '@reeve/kube'
import {
  type AdmissionRequest,
  allow,
  deny,
  type Logger,
  silentLogger,
  validatingWebhook,
  type WebhookRoute,
} from '@reeve/runtime'
import type { Approval, Denial } from '@reeve/runtime/webhooks'
import { DynaKubeCrd } from '../api/dynakube/dynakube-crd.ts'
import { EdgeConnectCrd } from '../api/edgeconnect/edgeconnect-crd.ts'
import { denialText, type Lookups, type RuleFinding } from '../api/validation/rule.ts'
import { type Judgement, judgeDynaKube, judgeEdgeConnect } from '../api/validation/validate.ts'
import { type UnreadableParts, unreadableParts, withoutNulls } from './decode.ts'

/** Creates the look-ups for one review. */
export type LookupsForReview = (namespace: string, signal: AbortSignal) => Lookups

interface ValidatedKind {
  readonly crd: AnyCrd
  readonly judge: (object: KubeObject, lookups: Lookups, before?: KubeObject) => Promise<Judgement>
}

const KINDS: readonly ValidatedKind[] = [
  { crd: DynaKubeCrd, judge: (object, lookups, before) => judgeDynaKube(object, () => lookups, before) },
  // Nothing of an EdgeConnect is immutable.
  { crd: EdgeConnectCrd, judge: (object, lookups) => judgeEdgeConnect(object, () => lookups) },
]

/** Where the API server sends reviews of a version of a kind. */
export function validationPath(version: string, kind: string): string {
  return `/validate-dynatrace-com-${version}-${kind.toLowerCase()}`
}

/**
 * The routes of every version.
 *
 * @example
 * new WebhookRouter(validationRoutes(clusterLookups({ client, modules, ignoredNamespaces, logger })))
 */
export function validationRoutes(lookupsFor: LookupsForReview, logger: Logger = silentLogger): readonly WebhookRoute[] {
  return KINDS.flatMap((kind) =>
    Object.keys(kind.crd.versions).map((version) => {
      const reviewed = { ...kind, version, unreadable: unreadableParts(kind.crd, version) }
      return validatingWebhook(validationPath(version, kind.crd.kind), (request, signal) =>
        review(reviewed, request, (namespace) => lookupsFor(namespace, signal), logger),
      )
    }),
  )
}

interface ValidatedVersion extends ValidatedKind {
  readonly version: string
  readonly unreadable: UnreadableParts
}

async function review(
  { crd, judge, version, unreadable }: ValidatedVersion,
  request: AdmissionRequest,
  lookupsIn: (namespace: string) => Lookups,
  logger: Logger,
): Promise<Approval | Denial> {
  const { oldObject, operation, subResource, namespace = '', name } = request
  const object = withoutNulls(request.object)
  if (object === undefined || operation === 'DELETE' || (subResource ?? '') !== '') return allow()
  // It is being deleted: a denial would prevent the removal of its finalizers and keep it forever.
  if (object.metadata.deletionTimestamp !== undefined) return allow()
  const problems = [...unreadable(object), ...(oldObject ? unreadable(oldObject, true) : [])]
  if (problems.length > 0) return undecodable(crd, problems)
  const { errors, warnings } = await judge(inNamespace(object, namespace), lookupsIn(namespace), oldObject)
  if (errors.length === 0) return allow(textsOf(warnings))
  const rules = errors.map(({ rule }) => rule)
  logger.info({ kind: crd.kind, version, namespace, name, operation, rules }, 'denied a resource')
  return deny(denialText(crd.kind, textsOf(errors)), { warnings: textsOf(warnings) })
}

const textsOf = (findings: readonly RuleFinding[]) => findings.map(({ message }) => message)

function undecodable({ kind }: AnyCrd, problems: readonly Problem[]): Denial {
  const list = problems.map(({ field, message }) => `${field}: ${message}`).join('; ')
  return deny(`the ${kind} cannot be read: ${list}`, {
    code: 400,
    reason: 'BadRequest',
    causes: problems.map(({ field, message }) => ({ field, message, reason: 'FieldValueInvalid' })),
  })
}

/** A review always says the namespace; an object in it need not. */
function inNamespace(object: UnknownObject, namespace: string): UnknownObject {
  return object.metadata.namespace === undefined ? { ...object, metadata: { ...object.metadata, namespace } } : object
}
