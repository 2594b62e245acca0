/** Writes files atomically, even if the program is interrupted. */
import { chmodSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** Before the umask. Containers of a pod run under arbitrary users, and all of them write here. */
const OPEN_TO_ALL = 0o777

/**
 * Writes a file and the folders that it needs. Synchronous, because nothing else happens meanwhile, and starting the
 * threads of asynchronous calls would be a third of what the program does.
 *
 * *Guarantees*: at any time the file is absent, the previous one, or the complete new one. The draft has a fixed name,
 * so the next run replaces one that was left by a killed process. A link in its place is not followed.
 *
 * *Assumption*: one process at a time prepares a pod.
 *
 * @param mode the exact permissions; 0777 minus the umask if not given
 *
 * @example
 * writeAtomically('/mnt/config/oneagent/ld.so.preload', '/opt/dynatrace/oneagent/agent/lib64/liboneagentproc.so', 0o644)
 */
export function writeAtomically(path: string, content: string, mode?: number): void {
  mkdirSync(dirname(path), { recursive: true, mode: OPEN_TO_ALL })
  const draft = draftOf(path)
  rmSync(draft, { force: true, recursive: true })
  writeFileSync(draft, content, { flag: 'wx', mode: mode ?? OPEN_TO_ALL })
  if (mode !== undefined) chmodSync(draft, mode)
  renameSync(draft, path)
}

/** The name that a file has until it is complete. */
export function draftOf(path: string): string {
  return join(dirname(path), `.${basename(path)}.partial`)
}
