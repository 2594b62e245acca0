/** Keeps the agents on this node as the DynaKubes want them. */
import { mkdir } from 'node:fs/promises'
import { Jobs, type Stored } from '@reeve/kube'
import type { Reconcile, ReconcileRequest, ReconcileResult } from '@reeve/runtime/controller'
import { needsAppInjection } from '../../api/dynakube/one-agent-facts.ts'
import type { DynaKube } from '../../api/latest.ts'
import { type CleanupOutcome, cleanUp } from './cleanup/clean-up.ts'
import type { CleanupSettings } from './cleanup/cleanup-context.ts'
import { CleanupTimer } from './cleanup/cleanup-timer.ts'
import { existingDynaKubes } from './cleanup/existing-dynakubes.ts'
import { codeModuleOf } from './code-module.ts'
import { jobSelector } from './download-job.ts'
import { currentDynaKube, makeDirectory, needsDirectory } from './dynakube-directory.ts'
import { installCodeModule } from './install/install-code-module.ts'
import type { InstallSettings } from './install/install-context.ts'
import { linkLatest } from './latest-link.ts'
import type { ProvisionerMetrics } from './provisioner-metrics.ts'

/** Options of {@link provision}. */
export interface ProvisionOptions extends InstallSettings, CleanupSettings {
  readonly cleanupPeriodMs: number
  readonly metrics: ProvisionerMetrics
}

const MINUTE_MS = 60_000
/** When to reconcile again if nothing changes. */
const REQUEUE_MS = {
  nothingToInstall: 30 * MINUTE_MS,
  undecided: MINUTE_MS,
  jobRunning: 30_000,
  installed: 5 * MINUTE_MS,
}

type Request = ReconcileRequest<DynaKube>

/**
 * The reconcile function of the provisioner. It must not run twice at once: installations share a scratch directory.
 *
 * @example
 * controllers: [{ name: 'provisioner-controller', for: DynaKubes, reconcile: provision(options) }]
 */
export function provision(options: ProvisionOptions): Reconcile<DynaKube> {
  let timer: CleanupTimer | undefined
  const clean = async (request: Request, when: 'now' | 'if due'): Promise<CleanupOutcome | undefined> => {
    timer ??= new CleanupTimer(options.cleanupPeriodMs, request.clock)
    return when === 'now' || timer.isDue ? timer.run(() => cleanUpFor(request, options)) : undefined
  }
  /** What could not be cleaned up must not keep an agent from being installed. */
  const tryToClean = async (request: Request, when: 'now' | 'if due'): Promise<CleanupOutcome | undefined> =>
    clean(request, when).catch((error: unknown) => {
      request.signal.throwIfAborted()
      request.logger.error({ err: error }, 'cannot clean up')
      return undefined
    })
  return async (request): Promise<ReconcileResult | undefined> => {
    const dynakube = await currentDynaKube(request)
    if (dynakube === undefined) {
      // No other DynaKube may be there to clean up after this one later.
      const { againInMs } = (await tryToClean(request, 'now')) ?? {}
      return againInMs === undefined ? undefined : { requeueAfterMs: againInMs }
    }
    if (!needsDirectory(dynakube)) {
      await clean(request, 'if due')
      return { requeueAfterMs: REQUEUE_MS.nothingToInstall }
    }
    const { paths } = options
    await makeDirectory(paths, dynakube.metadata.name)
    await mkdir(paths.codeModules, { recursive: true, mode: 0o755 })
    if (!needsAppInjection(dynakube)) {
      await tryToClean(request, 'if due')
      return { requeueAfterMs: REQUEUE_MS.nothingToInstall }
    }
    const outcome = await install(dynakube, request, options)
    if (outcome === 'installed') await tryToClean(request, 'if due')
    return { requeueAfterMs: REQUEUE_MS[outcome] }
  }
}

async function install(
  dynakube: Stored<DynaKube>,
  request: Request,
  options: ProvisionOptions,
): Promise<'undecided' | 'jobRunning' | 'installed'> {
  const { client, logger, signal } = request
  const { paths, metrics } = options
  const module = codeModuleOf(dynakube, options.hasCsiDriver)
  if (module === undefined) return 'undecided'
  const { name } = dynakube.metadata
  const isInstalled = await request.stage('install', () =>
    metrics.measure(module.method, () => installCodeModule(module, { ...options, dynakube, client, logger, signal })),
  )
  if (!isInstalled) return 'jobRunning'
  if (await linkLatest(paths, name, module.folder)) {
    logger.info({ dynakube: name, codeModule: module.folder }, 'new pods get this agent')
  }
  return 'installed'
}

function cleanUpFor(request: Request, options: ProvisionOptions): Promise<CleanupOutcome> {
  const { client, clock, logger, signal, key } = request
  const namespace = key.namespace ?? ''
  const listJobs = async () => {
    const labelSelector = jobSelector(options.nodeName)
    const { items } = await client.listAll(Jobs, { namespace, labelSelector, metadataOnly: true, signal })
    return items.map(({ metadata }) => metadata.name)
  }
  const listDynaKubes = () => existingDynaKubes({ client, namespace, paths: options.paths, signal })
  return request.stage('clean up', async () => {
    const outcome = await cleanUp({ ...options, listDynaKubes, listJobs, clock, logger, signal })
    options.metrics.deleted(outcome.deleted)
    return outcome
  })
}
