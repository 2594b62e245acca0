/** Volumes of a pod with names that injection uses. Pure. */
import type { Volume } from '@reeve/kube'
import { FIXED_NAMES } from '../../api/dynakube/names.ts'
import { BIN_VOLUME, CSI_DRIVER } from './code-modules.ts'
import { CONFIG_VOLUME } from './config-mounts.ts'
import { CERTS_VOLUME } from './exporter.ts'
import { INPUT_SECRETS, INPUT_VOLUME } from './init-container.ts'
import type { InjectablePod } from './injection-input.ts'

/** The volumes of code modules and enrichment, and of exporters. */
export const [AGENT_VOLUMES, FILE_VOLUMES, EXPORTER_VOLUMES] = [
  [BIN_VOLUME],
  [CONFIG_VOLUME, INPUT_VOLUME],
  [CERTS_VOLUME],
] as const

/**
 * A volume of these names that differs from what injection would add. It must not be used: containers would load code
 * from it, or the init container would write into it.
 */
export const conflictingVolume = ({ spec }: InjectablePod, names: readonly string[]): string | undefined =>
  spec.volumes?.find((volume) => names.includes(volume.name) && !isOurs(volume))?.name

function isOurs({ name, ...source }: Volume): boolean {
  // The API server rejects volumes with two sources; they are not to be judged by one of them.
  if (Object.values(source).filter((value) => value !== undefined && value !== null).length !== 1) return false
  const { emptyDir, csi, projected, secret } = source
  switch (name) {
    case BIN_VOLUME:
      return Boolean(emptyDir) || (csi?.driver === CSI_DRIVER && csi.volumeAttributes?.mode === 'app')
    case CONFIG_VOLUME:
      return Boolean(emptyDir)
    case INPUT_VOLUME:
      return isInput(projected)
    default:
      return secret?.secretName === FIXED_NAMES.otlpExporterCerts && !secret.items
  }
}

function isInput(projected: Volume['projected']): boolean {
  const { sources } = projected ?? {}
  if (!sources || sources.length !== INPUT_SECRETS.length) return false
  return INPUT_SECRETS.every(({ name }, index) => {
    const { secret, ...others } = sources[index] ?? {}
    return secret?.name === name && !secret.items && Object.keys(others).length === 0
  })
}
