/** Security contexts of pods and containers. */
import { isJsonObject, type JsonObject } from '../../json.ts'
import { type Problems, textAt } from './problems.ts'

const MAX_ID = 2_147_483_647

function validateIds(problems: Problems, context: JsonObject, path: string, fields: readonly string[]): void {
  for (const field of fields) {
    const value = context[field]
    if (typeof value !== 'number' || (value >= 0 && value <= MAX_ID)) continue
    problems.invalid(`${path}.${field}`, value, `must be between 0 and ${MAX_ID}, inclusive`)
  }
}

function validateSeccomp(problems: Problems, context: JsonObject, path: string): void {
  const profile = context.seccompProfile
  if (!isJsonObject(profile)) return
  const at = `${path}.seccompProfile`
  problems.oneOf(`${at}.type`, profile.type, ['Localhost', 'RuntimeDefault', 'Unconfined'])
  const isLocal = profile.type === 'Localhost'
  const file = textAt(profile, 'localhostProfile')
  if (isLocal && file === '') problems.required(`${at}.localhostProfile`, 'must be set when seccomp type is Localhost')
  if (!isLocal && profile.localhostProfile !== undefined) {
    problems.invalid(`${at}.localhostProfile`, file, 'can only be set when seccomp type is Localhost')
  }
}

/** Validates the security context of a pod. */
export function validatePodSecurity(problems: Problems, context: JsonObject, path: string): void {
  validateIds(problems, context, path, ['fsGroup', 'runAsUser', 'runAsGroup'])
  if (context.fsGroupChangePolicy !== undefined) {
    problems.oneOf(`${path}.fsGroupChangePolicy`, context.fsGroupChangePolicy, ['Always', 'OnRootMismatch'])
  }
  validateSeccomp(problems, context, path)
}

/** Validates the security context of a container. */
export function validateContainerSecurity(problems: Problems, context: JsonObject, path: string): void {
  validateIds(problems, context, path, ['runAsUser', 'runAsGroup'])
  validateSeccomp(problems, context, path)
  if (context.procMount !== undefined) problems.oneOf(`${path}.procMount`, context.procMount, ['Default', 'Unmasked'])
  if (context.allowPrivilegeEscalation !== false) return
  if (context.privileged === true) {
    const detail = 'cannot set `allowPrivilegeEscalation` to false and `privileged` to true'
    problems.invalidStruct(path, goForm(context), detail)
  }
  const added = isJsonObject(context.capabilities) ? context.capabilities.add : undefined
  if (Array.isArray(added) && added.includes('SYS_ADMIN')) {
    const detail = 'cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN'
    problems.invalidStruct(path, goForm(context), detail)
  }
}

/** The context with its fields in the order and case in which the server prints them. */
function goForm(context: JsonObject) {
  return {
    Capabilities: context.capabilities,
    Privileged: context.privileged,
    SELinuxOptions: context.seLinuxOptions,
    WindowsOptions: context.windowsOptions,
    RunAsUser: context.runAsUser,
    RunAsGroup: context.runAsGroup,
    RunAsNonRoot: context.runAsNonRoot,
    ReadOnlyRootFilesystem: context.readOnlyRootFilesystem,
    AllowPrivilegeEscalation: context.allowPrivilegeEscalation,
    ProcMount: context.procMount,
    SeccompProfile: context.seccompProfile,
    AppArmorProfile: context.appArmorProfile,
  }
}
