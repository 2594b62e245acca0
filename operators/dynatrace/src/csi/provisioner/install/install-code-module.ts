/** Installs an agent by the method that its DynaKube asks for. */
import { mkdir } from 'node:fs/promises'
import type { CodeModule } from '../code-module.ts'
import { installByJob } from './install-by-job.ts'
import type { InstallContext } from './install-context.ts'
import { isDirectory } from './install-files.ts'
import { installImage } from './install-image.ts'
import { installZip } from './install-zip.ts'
import { removeLeftovers } from './remove-leftovers.ts'

/**
 * Returns whether the agent is installed; false while a Job runs. An agent that exists is complete, whoever installed it.
 *
 * *Errors*: those of the method.
 */
export async function installCodeModule(module: CodeModule, context: InstallContext): Promise<boolean> {
  const { paths } = context
  await mkdir(paths.codeModules, { recursive: true, mode: 0o755 })
  if (module.method === 'job') return installByJob(module.image, module.folder, context)
  if (await isDirectory(paths.codeModule(module.folder))) return true
  // Of an attempt that could not delete them: the disk would fill up while the tenant cannot be reached.
  await removeLeftovers(paths)
  if (module.method === 'image') await installImage(module.image, module.folder, context)
  else await installZip(module.version, module.folder, context)
  return true
}
