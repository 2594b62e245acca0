/** `reeve-cluster`: the same as `reeve cluster`, without the other commands. */
import { clusterCommand } from './cluster-command.ts'

process.exitCode = await clusterCommand(process.argv.slice(2), 'reeve-cluster')
