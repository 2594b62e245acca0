/** Installs an agent from an image, which is read from its registry and not stored. */
import { mkdir, rm } from 'node:fs/promises'
import { pullLayer } from '@reeve/oci'
import { agentFileMode } from '../../../tenant/client/agent-file-mode.ts'
import { USER_AGENT } from '../../../tenant/client/defaults.ts'
import { ProvisionError } from '../provision-error.ts'
import { registryAccess } from './dynakube-access.ts'
import type { InstallContext } from './install-context.ts'
import { agentFolder, installFiles } from './install-files.ts'

/**
 * Unpacks the first layer that has an agent, for the platform of this node. An agent must be in one layer: layers are not
 * merged.
 *
 * *Errors*: {@link ProvisionError} if no layer has an agent; those of `registryAccess`, of the registry, of the archive and
 * of the file system.
 */
export async function installImage(image: string, folder: string, context: InstallContext): Promise<void> {
  const { paths, logger, signal } = context
  await using registry = context.openRegistry({ userAgent: USER_AGENT, ...(await registryAccess(context)) })
  const found = await registry.image(image, { signal })
  const onSkip = (skipped: object) => logger.warn({ image, ...skipped }, 'skipped an entry of a layer')
  await installFiles(paths, folder, async (work) => {
    for (const layer of found.manifest.layers) {
      await pullLayer(registry, found, layer, work, { signal, fileMode: agentFileMode, onSkip })
      if ((await agentFolder(work)) !== undefined) return
      await rm(work, { recursive: true })
      await mkdir(work, { mode: 0o755 })
    }
    throw new ProvisionError(
      `${image}: no layer has agent/bin; use an image of code modules with the agent in one layer`,
    )
  })
  logger.info({ image, digest: found.digest }, 'pulled an agent')
}
