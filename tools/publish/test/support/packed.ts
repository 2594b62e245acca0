/** The public packages, built and packed once for all suites of a run. */
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildPackages, type PackedPackage, packPackages } from '@reeve/publish'

let packing: Promise<readonly PackedPackage[]> | undefined

/** The archives, in a folder of the system that outlives the suites. */
export function packed(): Promise<readonly PackedPackage[]> {
  packing ??= pack()
  return packing
}

async function pack(): Promise<readonly PackedPackage[]> {
  const packages = await buildPackages()
  return packPackages(packages, await mkdtemp(join(tmpdir(), 'reeve-archives-')))
}
