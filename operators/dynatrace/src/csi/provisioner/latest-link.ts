/** Shows new pods which agent they get. */
import { readlink, rename, rm, symlink } from 'node:fs/promises'
import type { DataPaths } from '../data-paths.ts'

/**
 * Points `latest-codemodule` of a DynaKube to an agent; returns whether that changed anything. The link is replaced in one
 * step, so that a volume that is published meanwhile gets the old or the new agent.
 *
 * *Errors*: those of the file system.
 */
export async function linkLatest(paths: DataPaths, dynakube: string, folder: string): Promise<boolean> {
  const link = paths.latestCodeModule(dynakube)
  const target = paths.codeModule(folder)
  if ((await readlink(link).catch(() => undefined)) === target) return false
  const next = `${link}.next`
  await rm(next, { force: true })
  await symlink(target, next)
  await rename(next, link)
  return true
}
