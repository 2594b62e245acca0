/** Installs an agent by a Job on this node, whose image the container runtime pulls. */
import { rm } from 'node:fs/promises'
import { isAlreadyExists, isConflict, isNotFound, type Job, Jobs, type Stored } from '@reeve/kube'
import { linkNewestVersion } from '../../../bootstrapper/current-link.ts'
import { isDownloadJob, jobName, renderJob } from '../download-job.ts'
import { ProvisionError } from '../provision-error.ts'
import type { InstallContext } from './install-context.ts'
import { discardFiles, isDirectory } from './install-files.ts'

/**
 * Returns whether the agent is installed. If not, there is a Job that installs it; call again later.
 *
 * *Errors*: {@link ProvisionError} if the Job failed: Kubernetes deletes it soon, and it is then created again; or if its
 * name is taken. Those of the API server and of the file system.
 */
export async function installByJob(image: string, folder: string, context: InstallContext): Promise<boolean> {
  const { paths, client, signal, dynakube } = context
  const name = jobName(image, context.nodeName)
  const key = { namespace: dynakube.metadata.namespace ?? '', name }
  const job = await client.get(Jobs, key, { signal }).catch(ignoreMissing)
  if (await isDirectory(paths.codeModule(folder))) {
    await linkOrDiscard(folder, context)
    await rm(paths.jobWork(name), { recursive: true, force: true })
    if (job !== undefined && isDownloadJob(job)) await deleteJob(job, context)
    return true
  }
  if (job === undefined) await create(image, folder, context)
  else if (!isDownloadJob(job)) {
    throw new ProvisionError(`the Job ${key.namespace}/${name} does not belong to a DynaKube; delete it`)
  } else if (hasFailed(job)) {
    throw new ProvisionError(`the Job ${key.namespace}/${name} failed to copy the agent of ${image}; see its pods`)
  }
  return false
}

async function create(image: string, folder: string, context: InstallContext): Promise<void> {
  const { nodeName, hostDataRoot, jobs: settings, client, signal, dynakube, logger } = context
  const job = renderJob(dynakube, { image, folder, nodeName, hostDataRoot, settings })
  try {
    await client.create(Jobs, job, { signal })
    logger.info({ job: job.metadata.name, image }, 'created a download Job')
  } catch (error) {
    // Another DynaKube with the same image.
    if (!isAlreadyExists(error)) throw error
  }
}

/** The program in the image may have been stopped before it made the link. */
async function linkOrDiscard(folder: string, { paths }: InstallContext): Promise<void> {
  try {
    await linkNewestVersion(paths.codeModule(folder))
  } catch (error) {
    await discardFiles(paths, folder)
    throw error
  }
}

/** A Job that was stopped by its deadline may have no failed pod: none of them had started. */
const hasFailed = ({ status }: Stored<Job>): boolean =>
  (status?.failed ?? 0) > 0 ||
  (status?.conditions ?? []).some(({ type, status: isTrue }) => type === 'Failed' && isTrue === 'True')

async function deleteJob({ metadata }: Stored<Job>, { client, signal }: InstallContext): Promise<void> {
  const { namespace = '', name, uid } = metadata
  const options = { propagationPolicy: 'Background', preconditions: { uid }, signal } as const
  // Deleted meanwhile, or even created again: then it is read again by the next reconcile.
  await client.delete(Jobs, { namespace, name }, options).catch((error: unknown) => {
    if (!isNotFound(error) && !isConflict(error)) throw error
  })
}

function ignoreMissing(error: unknown): undefined {
  if (!isNotFound(error)) throw error
}
