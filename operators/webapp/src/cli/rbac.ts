/** `webapp-operator rbac`: the roles that the operator needs. */
import { rbacCommand } from '@reeve/cli'
import { NAME } from '../render/labels.ts'

/** The subcommand. */
export const command = rbacCommand(NAME, async () => (await import('../operator.ts')).webAppOperator)
