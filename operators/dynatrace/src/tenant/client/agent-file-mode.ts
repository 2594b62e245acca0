/** Permissions of the files of an agent. */

/** Whether all agents of a pod, whatever their user, must be able to write a file. */
const SHARED_CONFIGURATION = /^agent\/conf/

/**
 * Permissions of the files of an agent: configuration is written by agents of arbitrary users.
 *
 * @example
 * await unpackZip(file, folder, { fileMode: agentFileMode })
 */
export function agentFileMode(path: string, mode: number): number {
  return SHARED_CONFIGURATION.test(path) ? 0o666 : mode
}
