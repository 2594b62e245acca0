/** The public packages, built and packed once for all suites of a run. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { buildPackages, type PackedPackage, packPackages } from '@reeve/publish'

let packing: Promise<readonly PackedPackage[]> | undefined

/** The archives, in a folder of the system. */
export function packed(): Promise<readonly PackedPackage[]> {
  packing ??= pack()
  return packing
}

/** Removes the archives. */
export async function removePacked(): Promise<void> {
  for (const { archive } of (await packing) ?? []) await rm(dirname(archive), { recursive: true, force: true })
}

async function pack(): Promise<readonly PackedPackage[]> {
  const packages = await buildPackages()
  return packPackages(packages, await mkdtemp(join(tmpdir(), 'reeve-archives-')))
}
