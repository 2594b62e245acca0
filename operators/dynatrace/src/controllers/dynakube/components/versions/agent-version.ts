/** Versions of agents, such as 1.283.132.20240205-143805. */
import { CUSTOM_IMAGE_VERSION } from '../../../../api/dynakube/version-source.ts'

/** A version in parts that can be compared. */
export interface AgentVersion {
  readonly major: number
  readonly minor: number
  readonly patch: number
  /** When it was built: a date and a time, which compare as text. */
  readonly build: string
}

const VERSION = /^(\d+)\.(\d+)\.(\d+)\.(\d+-\d+)$/

/** Parses a version; `undefined` when it is invalid. */
export function parseAgentVersion(text: string): AgentVersion | undefined {
  const [, major, minor, patch, build] = VERSION.exec(text) ?? []
  if (major === undefined || minor === undefined || patch === undefined || build === undefined) return undefined
  return { major: Number(major), minor: Number(minor), patch: Number(patch), build }
}

/** Below 0 when `left` is older than `right`, above when it is newer. */
export function compareAgentVersions(left: AgentVersion, right: AgentVersion): number {
  return (
    left.major - right.major ||
    left.minor - right.minor ||
    left.patch - right.patch ||
    (left.build < right.build ? -1 : left.build > right.build ? 1 : 0)
  )
}

/** Whether a version is known to be older than `major.minor`. A version that only the image knows counts as new. */
export function isOlderThan(text: string | undefined, major: number, minor: number): boolean {
  if (!text || text === CUSTOM_IMAGE_VERSION) return false
  const version = parseAgentVersion(text)
  if (version === undefined) return false
  return version.major < major || (version.major === major && version.minor < minor)
}
