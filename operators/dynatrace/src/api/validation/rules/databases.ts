/** Rules on volumes of databases. */
import { posix } from 'node:path'
import type { DynaKube } from '../../latest.ts'
import type { Finding, Rule } from '../rule.ts'

const OWN_PATHS = ['/tmp', '/var/run/dynatrace/executor/token', '/var/ssl-certs/dynatrace']
const TRUSTED_CERTIFICATES_PATH = '/var/ssl-certs/user'

const databases = ({ spec }: DynaKube) => spec.extensions?.databases ?? []

/** Volumes are mounted, outside of the paths of the operator. */
export const databaseRules: readonly Rule<DynaKube>[] = [
  { id: 'DK-DB-MOUNTS', check: checkMounts },
  {
    id: 'DK-DB-UNUSED',
    check: (dynakube) => {
      const unused = databases(dynakube).flatMap(({ volumes = [], volumeMounts = [] }) => {
        const mounted = new Set(volumeMounts.map(({ name }) => name))
        return volumes.map(({ name }) => name).filter((name) => !mounted.has(name))
      })
      return unused.length === 0
        ? undefined
        : `spec.extensions.databases has volumes that are not mounted: ${unused.join(', ')}; mount or remove them`
    },
  },
]

function checkMounts(dynakube: DynaKube): Finding {
  const own = dynakube.spec.trustedCAs ? [...OWN_PATHS, TRUSTED_CERTIFICATES_PATH] : OWN_PATHS
  for (const { id, volumes = [], volumeMounts = [] } of databases(dynakube)) {
    const field = `spec.extensions.databases[${id}].volumeMounts`
    const names = new Set(volumes.map(({ name }) => name))
    for (const { name, mountPath } of volumeMounts) {
      if (!names.has(name)) {
        return `${field}: "${name}" is mounted at "${mountPath}", but there is no such volume; add it or remove the mount`
      }
      if (!mountPath.startsWith('/')) return `${field}: the path "${mountPath}" is not absolute; begin it with /`
      const clash = own.find((path) => collides(mountPath, path))
      if (clash !== undefined) {
        return `${field}: the path "${mountPath}" conflicts with ${clash}, which the operator mounts; choose another one`
      }
    }
  }
  return undefined
}

/** The same path, one below it, or the directory it is in. */
function collides(mountPath: string, own: string): boolean {
  const normal = posix.normalize(mountPath)
  const path = normal.length > 1 ? normal.replace(/\/$/, '') : normal
  return path === own || path.startsWith(`${own}/`) || path === posix.dirname(own)
}
