/** The process that installs agents on its node: two controllers, health and metrics. */
import { isDeepStrictEqual } from 'node:util'
import { Jobs, type KubeClient } from '@reeve/kube'
import { defineOperator, type Logger } from '@reeve/runtime'
import type { Cache, Transform } from '@reeve/runtime/cache'
import {
  annotationsChanged,
  anyOf,
  type Controller,
  generationChanged,
  type Predicate,
} from '@reeve/runtime/controller'
import type { Manager } from '@reeve/runtime/manager'
import type { OperatorFrameOptions } from '@reeve/runtime/operator'
import { type DynaKube, DynaKubes } from '../../api/latest.ts'
import { FIELD_MANAGER } from '../../installed-names.ts'
import { jobSelector } from './download-job.ts'
import { keepDirectory } from './dynakube-directory.ts'
import { type ProvisionOptions, provision } from './provision.ts'

/** Options of {@link createProvisioner}. */
export interface ProvisionerOptions extends Omit<OperatorFrameOptions, 'metrics' | 'leaderElection'>, ProvisionOptions {
  readonly client: KubeClient
  /** The namespace of the DynaKubes. */
  readonly namespace: string
  readonly logger: Logger
  readonly registry?: OperatorFrameOptions['metrics']
}

/** The provisioner before it runs. */
export interface Provisioner {
  readonly manager: Manager<Cache>
  readonly cache: Cache
  readonly dynakubes: Controller<DynaKube>
}

/** A download may take a quarter of an hour, and unpacking a while. */
const TIMEOUT_MS = 20 * 60_000

/**
 * Puts the provisioner together; `manager.run(signal)` starts it. There is no election: each works for its own node.
 *
 * @example
 * const { manager } = createProvisioner({ client, namespace, nodeName, paths, ... })
 * await manager.run(signal)
 */
export function createProvisioner(options: ProvisionerOptions): Provisioner {
  const { namespace, nodeName, registry, metrics: _, ...frame } = options
  const source = { resource: DynaKubes, namespace, transform: keepWhatDecides }
  const operator = defineOperator<readonly [DynaKube, DynaKube]>({
    name: FIELD_MANAGER,
    controllers: [
      {
        name: 'provisioner-controller',
        for: { ...source, predicate: anyOf<DynaKube>(generationChanged, annotationsChanged, codeModulesChanged) },
        // Of this node only: otherwise every node would receive the Jobs of all others.
        owns: [{ resource: Jobs, namespace, labelSelector: jobSelector(nodeName), metadataOnly: true }],
        reconcile: provision(options),
        timeoutMs: TIMEOUT_MS,
        concurrency: 1,
      },
      {
        name: 'dynakube-directories',
        for: { ...source, predicate: generationChanged },
        reconcile: keepDirectory(options.paths),
      },
    ],
  })
  const { manager, cache, controllers } = operator.create({ ...frame, ...(registry && { metrics: registry }) })
  const [dynakubes] = controllers
  manager.add({
    name: 'clean-up of a node without DynaKubes',
    needsLeadership: false,
    run: async (signal) => {
      await cache.waitForSync(signal)
      if (cache.list(DynaKubes, { namespace }).length === 0) dynakubes.enqueue({ namespace, name: DELETED_MEANWHILE })
    },
  })
  return { manager, cache, dynakubes }
}

/**
 * Stands for DynaKubes that were deleted while the provisioner did not run: no event tells about them, and their agents
 * would stay on the node until there is another DynaKube. Not a valid name, so that none has it.
 */
const DELETED_MEANWHILE = '-'

const codeModulesChanged: Predicate<DynaKube> = (change) =>
  change.type !== 'modified' ||
  !isDeepStrictEqual(change.previous.status?.codeModules, change.object.status?.codeModules)

/** The rest of the status changes often and is of no interest here. */
const keepWhatDecides: Transform = (object) => {
  const { managedFields: _, ...metadata } = object.metadata
  // A transform is generic over all kinds; this one is given to the informer of DynaKubes only.
  const { codeModules } = (object as unknown as DynaKube).status ?? {}
  return { ...object, metadata, status: codeModules ? { codeModules } : {} }
}
