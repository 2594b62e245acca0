/** The settings of the operator, read from the environment variables of its pod. */
import { parseBoolean, parseInteger } from './api/annotation-values.ts'
import { MODULES_VARIABLE, type Modules, parseModules } from './api/validation/modules.ts'

/** Environment variables of a process. */
export type ProcessEnvironment = Readonly<Record<string, string | undefined>>

/** The settings of the operator's process. */
export interface OperatorSettings {
  readonly namespace: string
  readonly podName: string | undefined
  readonly modules: Modules
  /** Its own image, which also serves as an init container. */
  readonly image: string
  /** The release that the CRDs have to come with; a developer need not say. */
  readonly release: { readonly version: string | undefined } | undefined
  /** Whether stored DynaKubes are rewritten at the start. */
  readonly migratesStorage: boolean
  /** Whether nodes that are removed are reported to the tenant. */
  readonly detectsHostAvailability: boolean
  readonly instancesIntervalMs: number
  /** How the leader is elected. */
  readonly election: {
    readonly leaseDurationMs: number
    readonly renewDeadlineMs: number
    readonly retryPeriodMs: number
  }
  /** Another tool provides the certificates of the webhook, and the CA bundle. */
  readonly areCertificatesProvided: boolean
  /** Out of a cluster, on the machine of a developer. */
  readonly isLocal: boolean
  /** Variables with invalid values, for which the default is used. */
  readonly unreadable: readonly string[]
}

const SECOND = 1_000
const MINUTE = 60 * SECOND

/** Thrown for what the operator cannot do without. */
export class OperatorSettingsError extends Error {
  readonly code = 'OPERATOR_SETTINGS'
  override readonly name = 'OperatorSettingsError'
}

/**
 * Reads the settings; what cannot be read counts as not given, and is named.
 *
 * *Errors*: {@link OperatorSettingsError} naming the variable.
 *
 * @example
 * const { namespace, modules } = operatorSettings(process.env)
 */
export function operatorSettings(env: ProcessEnvironment): OperatorSettings {
  const namespace = env.POD_NAMESPACE
  if (!namespace) {
    throw new OperatorSettingsError('POD_NAMESPACE is not set: say in which namespace the DynaKubes are')
  }
  const unreadable: string[] = []
  function read<T>(name: string, parse: (text: string) => T | undefined, byDefault: T): T {
    const given = env[name] ? parse(env[name]) : byDefault
    if (given === undefined) unreadable.push(name)
    return given ?? byDefault
  }
  const count = (name: string, byDefault: number) => read(name, parseCount, byDefault)
  const isOn = (name: string) => read(name, parseBoolean, true)
  const isLocal = env.RUN_LOCAL === 'true'
  return {
    namespace,
    podName: env.POD_NAME,
    modules: parseModules(env[MODULES_VARIABLE]),
    image: env.DT_OPERATOR_IMAGE ?? '',
    release: isLocal && !env.APP_VERSION ? undefined : { version: env.APP_VERSION },
    migratesStorage: isOn('DT_CRD_STORAGE_MIGRATION'),
    detectsHostAvailability: isOn('DT_HOST_AVAILABILITY_DETECTION'),
    instancesIntervalMs: count('ONEAGENT_OPERATOR_UPDATE_INTERVAL', 5) * MINUTE,
    election: {
      leaseDurationMs: count('LEADER_ELECTION_LEASE_DURATION', 30) * SECOND,
      renewDeadlineMs: count('LEADER_ELECTION_RENEW_DEADLINE', 20) * SECOND,
      retryPeriodMs: count('LEADER_ELECTION_RETRY_PERIOD', 6) * SECOND,
    },
    areCertificatesProvided: env.WEBHOOK_CERTIFICATES === 'provided',
    isLocal,
    unreadable,
  }
}

/** A whole number above zero. */
function parseCount(text: string): number | undefined {
  const value = parseInteger(text)
  return value === undefined || value <= 0 ? undefined : value
}
