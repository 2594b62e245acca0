/** Paths on which the webhook that renders an init container and the program that runs in it agree. */
import { posix } from 'node:path'

/** Where the init container mounts the volumes of an injected pod. */
export const INIT_MOUNTS = Object.freeze({
  /** The agent: read-only from the CSI driver, otherwise an empty volume to fill. */
  bin: '/mnt/bin',
  /** Configuration, one folder per container. */
  config: '/mnt/config',
  /** Files of the replicated Secrets. */
  input: '/mnt/input',
})

/** Where application containers see the agent when no other path is given to the bootstrapper. */
export const DEFAULT_INSTALL_PATH = '/opt/dynatrace/oneagent'

/** Where application containers see their part of the configuration volume. */
export const CONTAINER_CONFIG_PATH = '/var/lib/dynatrace'

/** The file that makes the loader of every process load the agent, below the configuration volume. */
export const PRELOAD_FILE = 'oneagent/ld.so.preload'

/**
 * The library that is loaded into processes, for an agent at `installPath`.
 *
 * @example
 * preloadedLibrary('/opt/dynatrace/oneagent-paas') // '/opt/dynatrace/oneagent-paas/agent/lib64/liboneagentproc.so'
 */
export function preloadedLibrary(installPath: string): string {
  return posix.join(installPath, 'agent/lib64/liboneagentproc.so')
}
