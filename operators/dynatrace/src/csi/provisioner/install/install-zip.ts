/** Installs an agent from the archive that the tenant offers. */
import { randomBytes } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { unpackZip } from '@reeve/archives'
import { agentFileMode } from '../../../tenant/client/agent-file-mode.ts'
import { codeModules } from '../../../tenant/client/installer-target.ts'
import { tenantAccess } from './dynakube-access.ts'
import type { InstallContext } from './install-context.ts'
import { installFiles } from './install-files.ts'

/** What the names of downloads begin with; what a killed process left of them is deleted at the next start. */
export const DOWNLOAD_PREFIX = 'download'

/**
 * Downloads and unpacks a version.
 *
 * The API has no checksum. Verified are the length of the response and, entry by entry, size and CRC. A download that is
 * cut off resumes if the tenant still has the same file.
 *
 * *Errors*: those of `tenantAccess`, of the tenant, of the archive and of the file system.
 */
export async function installZip(version: string, folder: string, context: InstallContext): Promise<void> {
  const { paths, logger, signal } = context
  await using tenant = context.connectTenant(await tenantAccess(context))
  const file = join(paths.codeModules, `${DOWNLOAD_PREFIX}${randomBytes(8).toString('hex')}`)
  try {
    // The umask of the process is 0.
    await writeFile(file, '', { mode: 0o600, flag: 'wx' })
    const downloaded = await tenant.installers.download(codeModules(), version, file, { signal })
    logger.info({ version, ...downloaded }, 'downloaded an agent')
    const onSkip = (skipped: object) => logger.warn({ version, ...skipped }, 'skipped an entry of the archive')
    await installFiles(paths, folder, (work) => unpackZip(file, work, { signal, fileMode: agentFileMode, onSkip }))
  } finally {
    await rm(file, { force: true })
  }
}
