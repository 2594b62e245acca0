/** `collector-operator rbac`: the roles that the operator needs with its settings. */
import { readFile } from 'node:fs/promises'
import { rbacCommand, type Subcommand } from '@reeve/cli'
import { FIELD_MANAGER } from '../field-manager.ts'

const plain = rbacCommand(FIELD_MANAGER, () => rolesWith(undefined))

type RbacCommandOptions = Parameters<typeof plain.run>[0] & { readonly settings?: string }

/** The subcommand. */
export const command: Subcommand<RbacCommandOptions> = {
  configure: (cli) =>
    plain.configure(
      cli.option('--settings <path>', 'settings of the operator: accounts, created namespaces, credentials'),
    ),
  run: ({ settings, ...options }, context) =>
    rbacCommand(FIELD_MANAGER, () => rolesWith(settings)).run(options, context),
}

async function rolesWith(path: string | undefined) {
  const [{ collectorRbac }, { parseSettings }] = await Promise.all([import('../operator.ts'), import('../settings.ts')])
  const settings = path === undefined ? { clusters: {} } : parseSettings(await readFile(path, 'utf8'))
  return {
    name: FIELD_MANAGER,
    rbac: (options: Parameters<typeof collectorRbac>[1]) => collectorRbac(settings, options),
  }
}
