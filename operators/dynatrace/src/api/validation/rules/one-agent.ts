/** Rules on the OneAgent. */
import { customCodeModulesImage } from '../../dynakube/feature-facts.ts'
import {
  argumentValues,
  customVersion,
  isMode,
  modeSpec,
  needsAppInjection,
  oneAgentArguments,
  oneAgentEnv,
  oneAgentModes,
} from '../../dynakube/one-agent-facts.ts'
import { featureFlags } from '../../feature-flags.ts'
import type { DynaKube } from '../../latest.ts'
import type { Finding, Rule } from '../rule.ts'
import { repeatedValues } from './active-gate.ts'

const VERSION = /^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.[0-9]{8}-[0-9]{6}$/
const VOLUME_STORAGE = 'ONEAGENT_ENABLE_VOLUME_STORAGE'

/** A pinned version is complete. */
export const versionRule: Rule<DynaKube> = {
  id: 'DK-OA-VERSION',
  check: (dynakube) => {
    const version = customVersion(dynakube)
    if (version === '' || VERSION.test(version)) return undefined
    const field = `spec.oneAgent.${oneAgentModes(dynakube)[0]}.version`
    return `${field}: "${version}" is not a valid version; write it like 1.267.209.20231204-134602 or leave it out`
  },
}

/** Arguments are given once. */
export const repeatedArgumentsRule: Rule<DynaKube> = {
  id: 'DK-OA-ARGS-DUP',
  check: (dynakube) => {
    for (const [key, values] of argumentValues(oneAgentArguments(dynakube))) {
      if (values.length < 2 || key === '--set-host-property') continue
      if (key !== '--set-host-tag') return `args of spec.oneAgent give ${key} more than once; keep one of them`
      const repeated = repeatedValues(values)
      if (repeated.length > 0) {
        return `args of spec.oneAgent repeat --set-host-tag for [${repeated.join(' ')}]; keep each once`
      }
    }
    return undefined
  },
}

/** The operator sets the source of host ids itself. */
export const hostIdRule: Rule<DynaKube> = {
  id: 'DK-OA-HOSTID',
  check: (dynakube) => {
    const args = modeSpec(dynakube, 'cloudNativeFullStack')?.args ?? []
    return argumentValues(args).has('--set-host-id-source')
      ? 'spec.oneAgent.cloudNativeFullStack.args contain --set-host-id-source, which the operator sets itself in this mode; remove it'
      : undefined
  },
}

/** Only one mode is set. */
export const modesRule: Rule<DynaKube> = {
  id: 'DK-OA-MODES',
  check: (dynakube) => {
    const modes = oneAgentModes(dynakube)
    return modes.length > 1 ? `spec.oneAgent has several modes (${modes.join(', ')}); keep one of them` : undefined
  },
}

/** Code modules can be injected in the chosen way. */
export const injectionRules: readonly Rule<DynaKube>[] = [
  {
    id: 'DK-CMI-NOCSI',
    check: (dynakube, { modules }) => {
      const isImage = customCodeModulesImage(dynakube, true) !== ''
      return isImage && !modules.csiDriver && !featureFlags(dynakube).nodeImagePull
        ? 'codeModulesImage of spec.oneAgent needs the CSI driver, which is not installed, or the flag node-image-pull; install the driver, set the flag or remove the image'
        : undefined
    },
  },
  {
    id: 'DK-CMI-REQUIRED',
    check: (dynakube) =>
      needsAppInjection(dynakube) &&
      featureFlags(dynakube).nodeImagePull &&
      customCodeModulesImage(dynakube, true) === ''
        ? 'the flag node-image-pull needs codeModulesImage in spec.oneAgent, as there is nothing else to pull; set the image or remove the flag'
        : undefined,
  },
  { id: 'DK-OA-VOLSTORE', check: volumeStorage },
]

function volumeStorage(dynakube: DynaKube): Finding {
  if (!isMode(dynakube, 'cloudNativeFullStack', 'hostMonitoring')) return undefined
  const variable = oneAgentEnv(dynakube).find(({ name }) => name === VOLUME_STORAGE)
  return variable && variable.value !== 'true'
    ? `env of spec.oneAgent sets ${VOLUME_STORAGE} to something other than true, but this mode runs with a read-only file system and needs the volume; remove the variable`
    : undefined
}
