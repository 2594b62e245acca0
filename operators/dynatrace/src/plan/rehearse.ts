/** Runs the reconciles of the operator on a scratch cluster until they have nothing left to do. */
import type { Clock, KubeObject, ObjectKey, Resource } from '@reeve/kube'
import type { ScratchCluster } from '@reeve/plan'
import { defineOperator, type Logger, silentLogger } from '@reeve/runtime'
import type { Reconcile } from '@reeve/runtime/controller'
import type { DynaKube, EdgeConnect } from '../api/latest.ts'
import { dynaKubeController } from '../controllers/dynakube/controller.ts'
import type { OperatorFacts, ScopeSettings } from '../controllers/dynakube/dependencies.ts'
import { edgeConnectController } from '../controllers/edgeconnect/controller.ts'
import { FIELD_MANAGER } from '../controllers/field-manager.ts'
import type { KeyPair, SelfSignedSubject } from '../controllers/generated/self-signed.ts'
import { repeatableBytes } from './repeatable-bytes.ts'
import type { World } from './world.ts'

/** A resource that is planned for. */
export interface PlannedResource extends ObjectKey {
  readonly kind: 'DynaKube' | 'EdgeConnect'
}

/** What a rehearsal needs besides the scratch cluster. */
export interface RehearsalOptions extends ScopeSettings {
  readonly world: World
  readonly operator: OperatorFacts
  readonly clusterId: string
  readonly clock: Clock
  readonly logger?: Logger
  readonly signal: AbortSignal
}

/** What went wrong with a resource in the end. */
export interface Failure {
  readonly resource: PlannedResource
  readonly error: Error
}

/** Each round does what the events of the one before would make the operator do; a handful is plenty. */
const MAX_ROUNDS = 10

/** A reconcile goes on for ever. */
class UnsettledError extends Error {
  readonly code = 'PLAN_UNSETTLED'
  override readonly name = 'UnsettledError'

  constructor({ kind, namespace, name }: PlannedResource) {
    super(`${kind} ${namespace}/${name} still changes after ${MAX_ROUNDS} rounds; the plan shows the state by then`)
  }
}

const unsettled = (resource: PlannedResource): Failure => ({ resource, error: new UnsettledError(resource) })

/**
 * Reconciles the resources, round by round, until a round writes nothing.
 *
 * *Errors*: only the reason of the signal; errors of a resource are in the result, as in its status.
 *
 * @example
 * const failures = await rehearse(scratch, [{ kind: 'DynaKube', namespace, name }], options)
 */
export async function rehearse(
  scratch: ScratchCluster,
  resources: readonly PlannedResource[],
  options: RehearsalOptions,
): Promise<readonly Failure[]> {
  const reconcile = reconciler(scratch, options)
  for (let round = 1; ; round += 1) {
    const writesBefore = scratch.writes
    const failures: Failure[] = []
    for (const resource of resources) {
      try {
        await reconcile(resource)
      } catch (error) {
        options.signal.throwIfAborted()
        if (!(error instanceof Error)) throw error
        failures.push({ resource, error })
      }
    }
    if (scratch.writes === writesBefore) return failures
    if (round === MAX_ROUNDS) return failures.length > 0 ? failures : resources.map(unsettled)
  }
}

/** A function that reconciles a resource once. */
function reconciler(scratch: ScratchCluster, options: RehearsalOptions) {
  const { world, ...facts } = options
  const shared = { ...facts, ...world, randomBytes: repeatableBytes(), selfSigned: placeholderCertificate }
  const controllers = [dynaKubeController(shared), edgeConnectController(shared)] as const
  const described = defineOperator<[DynaKube, EdgeConnect]>({ name: FIELD_MANAGER, controllers }).describe()
  return async (resource: PlannedResource) => {
    const found = described.find((one) => one.resource.kind === resource.kind)
    if (found !== undefined) await reconcileOnce(scratch, found.resource, found.reconcile, resource, options)
  }
}

/** Nobody will see it, and a real key takes a second. */
async function placeholderCertificate({ commonName }: SelfSignedSubject): Promise<KeyPair> {
  return { certificate: `certificate of ${commonName}`, privateKey: `key of ${commonName}` }
}

async function reconcileOnce<T extends KubeObject>(
  { client, view }: ScratchCluster,
  resource: Resource<T>,
  reconcile: Reconcile<T>,
  { namespace, name }: ObjectKey,
  { clock, signal, logger = silentLogger }: RehearsalOptions,
): Promise<void> {
  const key = namespace === undefined ? { name } : { namespace, name }
  await reconcile({
    key,
    object: view.get(resource, key),
    reasons: [],
    attempt: 1,
    reconcileId: 'plan',
    client,
    cache: view,
    logger,
    clock,
    signal,
    // A plan changes nothing, so there are no events.
    events: { record: () => undefined },
    stage: (_name, run) => run(),
  })
}
