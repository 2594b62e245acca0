/** Plans from the console: what the next reconcile would write, or would if an edited resource were applied. */
import { isRecord } from '@reeve/http'
import { groupOf, type KubeObject } from '@reeve/kube'
import { parseYamlDocuments } from '@reeve/kube/yaml'
import { type Plan, planOperator, readState, SENSITIVE } from '@reeve/plan'
import { controllerOf } from '@reeve/runtime/owner-references'
import type { PlanResult } from '../wire.ts'
import type { ConsoleModel } from './console-model.ts'
import type { OperatorModel } from './operator-model.ts'
import type { ResourceAddress } from './resource-detail.ts'
import { withoutSecrets } from './secrets.ts'

/** What to plan: a resource as it is, or with another manifest. */
export interface PlanRequest extends ResourceAddress {
  /** YAML or JSON of the resource as it should be. @default as it is */
  readonly manifest?: string
}

/** A plan was asked for something that cannot be planned; the message is for people. */
class PlanProblem extends Error {
  override readonly name = 'PlanProblem'
}

/**
 * Plans for one resource. Nothing is changed: the cluster is read, and the rest happens on a copy in memory.
 *
 * @example
 * await planResource(model, { operator: 'webapp-operator', kind: 'WebApp', namespace: 'shop', name: 'web' }, signal)
 */
export async function planResource(
  model: ConsoleModel,
  request: PlanRequest,
  signal: AbortSignal,
): Promise<PlanResult> {
  const operator = model.operator(request.operator)
  if (operator?.observed === undefined) return noPlan(`unknown operator ${request.operator}`)
  const { kind, namespace, name } = request
  const live = operator.find(kind, { ...(namespace !== undefined && { namespace }), name })?.object
  // What the page did not show stays in the plan, and must not come back in what is said about it.
  const redact = operator.redactorOf(live)
  try {
    const plan = await planFor(operator, request, signal)
    return withoutSecrets({ ...plan, resources: undefined }, redact) as PlanResult // the same shape
  } catch (error) {
    signal.throwIfAborted()
    // Of a manifest that was rejected, a controller that may not be planned, a right that is missing.
    const message = error instanceof Error ? error.message : String(error)
    return noPlan(redact(message))
  }
}

const noPlan = (problem: string): PlanResult => ({ changes: [], unchanged: 0, findings: [], problem })

async function planFor(operator: OperatorModel, request: PlanRequest, signal: AbortSignal): Promise<Plan> {
  const { observed } = operator
  const { kind, namespace, name, manifest } = request
  if (observed === undefined) throw new PlanProblem('the operator is not running')
  const only = { ...(namespace !== undefined && { namespace }), name }
  const live = operator.find(kind, only)?.object
  const files = manifest === undefined ? [] : [readManifest(manifest, request, live)]
  const described = observed.describe()
  const scope = namespace === undefined ? {} : { within: [namespace] }
  const { objects, unserved, findings } = await readState(observed.client, described, { ...only, ...scope, signal })
  const primary = described.find(({ resource }) => resource.kind === kind)?.resource
  const isPrimary = (object: KubeObject) => object.kind === kind && groupOf(object.apiVersion) === primary?.group
  const state = objects.filter((object) => concerns(object, request, live, isPrimary(object)))
  const target = files.length > 0 ? { files } : only
  // The page shows the whole object: what is missing in the manifest was removed from it.
  const plan = await planOperator(observed, { ...target, replaces: true, state, unserved, signal })
  return { ...plan, findings: [...findings, ...plan.findings] }
}

/** Other resources of the kind, and what they own, do not matter: there may be thousands. */
function concerns(
  object: KubeObject,
  { kind, name }: PlanRequest,
  live: KubeObject | undefined,
  isPrimary: boolean,
): boolean {
  if (isPrimary) return object.metadata.name === name
  const owner = controllerOf(object)
  return owner === undefined || owner.kind !== kind || owner.uid === live?.metadata.uid
}

function readManifest(text: string, { kind, namespace, name }: PlanRequest, live: KubeObject | undefined): KubeObject {
  const [document, ...others] = parseYamlDocuments(text)
  const [problem] = document?.errors ?? []
  if (problem !== undefined) throw new PlanProblem(`not valid YAML: ${problem.message}`)
  if (others.length > 0) throw new PlanProblem('more than one document: a plan is for one resource')
  const value: unknown = withConcealed(document?.toJS(), live)
  if (!isRecord(value) || !isRecord(value.metadata))
    throw new PlanProblem('the manifest is not an object with metadata')
  if (value.kind !== kind) throw new PlanProblem(`kind: is ${JSON.stringify(value.kind)}; keep ${kind}`)
  if (value.metadata.name !== name)
    throw new PlanProblem(`metadata.name: keep ${name}; other resources have a page of their own`)
  const { status: _status, ...rest } = value
  const apiVersion = typeof value.apiVersion === 'string' ? value.apiVersion : (live?.apiVersion ?? '')
  const metadata = { ...value.metadata, name, ...(namespace !== undefined && { namespace }) }
  return { ...rest, apiVersion, kind, metadata }
}

/** What the page did not show stays as it is. */
function withConcealed(edited: unknown, live: unknown): unknown {
  if (edited === SENSITIVE) return live ?? edited
  if (Array.isArray(edited)) {
    const items = Array.isArray(live) ? live : []
    return edited.map((item, index) => withConcealed(item, namesake(item, items) ?? items[index]))
  }
  if (!isRecord(edited)) return edited
  const members = isRecord(live) ? live : {}
  return Object.fromEntries(Object.entries(edited).map(([name, value]) => [name, withConcealed(value, members[name])]))
}

function namesake(item: unknown, items: readonly unknown[]): unknown {
  if (!isRecord(item) || item.name === undefined) return undefined
  return items.find((one) => isRecord(one) && one.name === item.name)
}
