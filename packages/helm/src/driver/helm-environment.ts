/** The process environment of helm: its own folders, independent of the user's configuration. */
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeKubeconfigs } from './kubeconfig.ts'

/** Variables with the locations of certificates and temporary files. */
const PASSED_ON = ['SSL_CERT_FILE', 'SSL_CERT_DIR', 'TMPDIR']

/** A folder that only its owner can read. */
export interface HelmFolder {
  readonly path: string
  /** Removes it, if this driver created it. */
  remove(): Promise<void>
}

/** Opens `path`, or a new temporary folder. */
export async function openFolder(path: string | undefined): Promise<HelmFolder> {
  if (path === undefined) {
    const made = await mkdtemp(join(tmpdir(), 'reeve-helm-'))
    return { path: made, remove: () => rm(made, { recursive: true, force: true }) }
  }
  await mkdir(path, { recursive: true, mode: 0o700 })
  await chmod(path, 0o700)
  await removeKubeconfigs(path)
  return { path, remove: async () => undefined }
}

/**
 * The process environment of helm, except `KUBECONFIG`, which differs between commands. Caches in `folder` save later
 * commands some requests; plugins, repositories and registry log-ins of the user are not used.
 */
export function helmEnvironment(
  folder: string,
  env: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  const passedOn = PASSED_ON.flatMap((name) => (env[name] ? [[name, env[name]] as const] : []))
  return {
    ...Object.fromEntries(passedOn),
    HOME: folder,
    HELM_CACHE_HOME: join(folder, 'cache'),
    HELM_CONFIG_HOME: join(folder, 'config'),
    HELM_DATA_HOME: join(folder, 'data'),
    HELM_DRIVER: 'secret',
    NO_COLOR: '1',
  }
}
