/**
 * Where each volume is published. The table of mounts shows what is mounted at a path, but not for which volume: all
 * volumes of a host agent look the same. Nor does a request to unpublish a volume have its attributes.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { AppVolumePaths, DataPaths } from '../data-paths.ts'
import { isMountPoint, placesOf, readMounts } from '../mounts/mount-table.ts'
import type { Volume } from './publish-request.ts'

type VolumeRecord = Pick<Volume, 'targetPath' | 'retryTimeoutMs'>

/** Writes the record of a volume, before anything is mounted for it. *Errors*: those of the file system. */
export function writeRecord({ record }: AppVolumePaths, { targetPath, retryTimeoutMs }: Volume): void {
  writeFileSync(record, JSON.stringify({ targetPath, retryTimeoutMs } satisfies VolumeRecord))
}

/** The record of a volume; empty for one that an earlier release published, and for one that is not published. */
export function readRecord({ record }: AppVolumePaths): Partial<VolumeRecord> {
  try {
    return JSON.parse(readFileSync(record, 'utf8')) as VolumeRecord
  } catch {
    // None, or a process was killed while it wrote it: then nothing is mounted.
    return {}
  }
}

/**
 * The volume whose target a path is, `id` or another one; `undefined` if none is known. An earlier release wrote no records:
 * without any, it is `id`.
 */
export function ownerOf(targetPath: string, id: string, paths: DataPaths): string | undefined {
  const recorded = (volume: string) => readRecord(paths.appVolume(volume)).targetPath
  const own = recorded(id)
  if (own === targetPath) return id
  return volumeIds(paths).find((volume) => recorded(volume) === targetPath) ?? (own === undefined ? id : undefined)
}

/** Where a volume is mounted that is not mounted at `targetPath`; `undefined` if nowhere. */
export async function otherPlaceOf(volume: AppVolumePaths, targetPath: string): Promise<string | undefined> {
  if (!existsSync(volume.root)) return undefined
  const [place] = placesOf(volume.mapped, await readMounts())
  if (place !== undefined) return place
  const { targetPath: recorded = targetPath } = readRecord(volume)
  const isElsewhere = recorded !== targetPath && (await isMountPoint(recorded).catch(() => false))
  return isElsewhere ? recorded : undefined
}

function volumeIds({ appMounts }: DataPaths): readonly string[] {
  try {
    return readdirSync(appMounts)
  } catch {
    // Without the directory there are no records.
    return []
  }
}
