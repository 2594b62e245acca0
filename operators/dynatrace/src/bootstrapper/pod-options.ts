/** What both programs need to know to write the configuration of a pod. */

import type { ContainerAttributes } from '../injection-contract/attributes.ts'
import { DEFAULT_INSTALL_PATH } from '../injection-contract/paths.ts'
import { type PodAttributes, parseContainer, parsePodAttributes } from './attributes.ts'
import type { FlagValues } from './flags.ts'

/** The flags that both programs have. */
export const POD_FLAGS = {
  'config-directory': { kind: 'text', help: 'where to write configuration' },
  'input-directory': { kind: 'text', help: 'where the files of the Secrets are' },
  target: { kind: 'text', help: 'directory of the agent' },
  'install-path': { kind: 'text', help: `the agent as seen by applications (default: ${DEFAULT_INSTALL_PATH})` },
  fullstack: { kind: 'switch', help: 'the host has an agent, too; needs --tenant' },
  tenant: { kind: 'text', help: 'id of the tenant' },
  attribute: { kind: 'list', help: 'key=value of the pod' },
  'attribute-container': { kind: 'list', help: 'JSON object about a container' },
  'suppress-error': { kind: 'switch', help: 'log errors and exit 0, so that the pod starts without an agent' },
  help: { kind: 'switch', help: 'show this text' },
} as const

/** The configuration to write. */
export interface PodOptions {
  /** Without a directory nothing is written. */
  readonly configDirectory: string
  readonly inputDirectory: string
  readonly target: string
  readonly installPath: string
  readonly isFullStack: boolean
  readonly tenant: string
  readonly pod: PodAttributes
  /** Read when they are needed: a malformed one must not stop what does not need it. */
  containers(): readonly ContainerAttributes[]
}

/** The configuration by the flags that both programs have. */
export function podOptions(values: FlagValues<typeof POD_FLAGS>): PodOptions {
  return {
    configDirectory: values['config-directory'] ?? '',
    inputDirectory: values['input-directory'] ?? '',
    target: values.target ?? '',
    installPath: values['install-path'] ?? DEFAULT_INSTALL_PATH,
    isFullStack: values.fullstack ?? false,
    tenant: values.tenant ?? '',
    pod: parsePodAttributes(values.attribute ?? []),
    containers: () => (values['attribute-container'] ?? []).map(parseContainer),
  }
}
